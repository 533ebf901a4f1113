import type { ServerResponse } from 'node:http';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { badLabels } from '../../fixtures/bad-labels.ts';
import { largeLabel, plainLabel } from '../../fixtures/label-files.ts';
import { documentMutation, idsOf, pathOf, startLabelShop } from '../../fixtures/label-shop.ts';
import { until } from '../../fixtures/rest-service.ts';

let stage: Awaited<ReturnType<typeof startLabelShop>>;
beforeAll(async () => {
  stage = await startLabelShop();
});
afterEach(() => {
  for (const part of [stage.shop.labels, stage.shop.unlabelled, stage.shop.missing, stage.shop.rejected])
    part.clear();
  stage.service.requests.length = 0;
});
afterAll(() => stage[Symbol.asyncDispose]());

const pdf = { 'content-type': 'application/pdf' };
const included = (shipmentId: string, page: number) => ({
  shipmentId: `shipments/${shipmentId}`,
  outcome: 'INCLUDED',
  page,
  message: null,
});

describe('createLabelDocument', () => {
  test('makes a document of the labels in the sequence of the input', async () => {
    const { result } = await stage.make(['s3', 'shipments/s1', 's2'], 'layout: A6');
    expect(result).toEqual({
      __typename: 'CreateLabelDocumentSuccess',
      document: {
        url: expect.stringMatching(/^http:\/\/waybill\.test\/documents\/[\w-]{22}\.pdf$/),
        expireTime: expect.any(String),
        pageCount: 3,
        labelCount: 3,
        entries: [included('s3', 1), included('s1', 2), included('s2', 3)],
      },
    });
    expect(stage.calls().toSorted()).toEqual([
      'GET /v1/shipments/s1',
      'GET /v1/shipments/s1/label',
      'GET /v1/shipments/s2',
      'GET /v1/shipments/s2/label',
      'GET /v1/shipments/s3',
      'GET /v1/shipments/s3/label',
    ]);
  });

  test('first reads one page of the list if the document has 20 shipments', async () => {
    await stage.make(idsOf(20));
    const calls = stage.calls();
    expect(calls.filter((call) => call.startsWith('GET /v1/shipments?'))).toHaveLength(1);
    // The list of this shop is empty.
    expect(calls.filter((call) => /^GET \/v1\/shipments\/s\d+$/.test(call))).toHaveLength(20);
    expect(calls.filter((call) => call.endsWith('/label'))).toHaveLength(20);
  });

  test('reads eight labels at a time, and the next label after each response', async () => {
    const ids = idsOf(12);
    const bytes = await plainLabel('HELD');
    const held: ServerResponse[] = [];
    for (const id of ids) stage.shop.labels.set(id, (response) => held.push(response));
    const made = stage.make(ids);
    const labelCalls = () => stage.calls().filter((call) => call.endsWith('/label')).length;
    for (let sent = 0; sent < ids.length; sent += 1) {
      const expected = Math.min(sent + 8, ids.length);
      await until(() => held.length === expected);
      expect(labelCalls()).toBe(expected);
      held[sent]?.writeHead(200, pdf).end(bytes);
    }
    expect((await made).result?.document?.labelCount).toBe(12);
  });

  test('lets the link work for 15 minutes, or as long as the input says', async () => {
    for (const [input, minutes] of [
      ['', 15],
      ['expiresInMinutes: 1440', 1_440],
    ] as const) {
      const before = Date.now();
      const { result } = await stage.make(['s1'], input);
      const ms = Date.parse(result?.document?.expireTime ?? '') - before;
      expect(ms).toBeGreaterThanOrEqual(minutes * 60_000);
      expect(ms).toBeLessThan((minutes + 5) * 60_000);
    }
  });

  test('gives the reason for each shipment without a label to print', async () => {
    const ids = idsOf(100);
    const [bad] = badLabels;
    stage.shop.unlabelled.add('s010');
    stage.shop.missing.add('s020');
    stage.shop.labels.set('s030', (await bad?.make()) ?? Buffer.alloc(0));
    stage.shop.labels.set('s040', (response) => response.writeHead(500).end());
    const { result } = await stage.make(ids, 'layout: A4_FOUR');
    const entries = result?.document?.entries ?? [];
    expect(entries.map(({ shipmentId }) => shipmentId)).toEqual(ids.map((id) => `shipments/${id}`));
    expect(entries.filter(({ outcome }) => outcome !== 'INCLUDED')).toEqual([
      {
        shipmentId: 'shipments/s010',
        outcome: 'NOT_READY',
        page: null,
        message: 'This shipment has no label. Its status is GENERATING_LABEL.',
      },
      {
        shipmentId: 'shipments/s020',
        outcome: 'NOT_FOUND',
        page: null,
        message: 'This shipment does not exist.',
      },
      {
        shipmentId: 'shipments/s030',
        outcome: 'UNREADABLE',
        page: null,
        message: 'The file is not a PDF.',
      },
      {
        shipmentId: 'shipments/s040',
        outcome: 'FAILED',
        page: null,
        message: 'GET /v1/shipments/s040/label returned 500.',
      },
    ]);
    expect(result?.document).toMatchObject({ labelCount: 96, pageCount: 24 });
  });

  test.each<[string, (response: ServerResponse) => unknown, string, string]>([
    [
      'a web page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in'),
      'UNREADABLE',
      'The label that the REST service sent for this shipment is not a PDF.',
    ],
    [
      'empty',
      (response) => response.writeHead(200, pdf).end(),
      'UNREADABLE',
      'The label that the REST service sent for this shipment is not a PDF.',
    ],
    [
      'larger than 5 MiB',
      (response) => response.writeHead(200, pdf).end(Buffer.alloc(5 * 1_048_576 + 1)),
      'UNREADABLE',
      'The label has more than 5 MiB.',
    ],
    [
      'a 404',
      (response) => response.writeHead(404).end(),
      'NOT_READY',
      'The REST service does not have the label of this shipment.',
    ],
  ])('gives the reason if the label response is %s', async (_what, send, outcome, message) => {
    stage.shop.labels.set('s2', send);
    const { result } = await stage.make(['s1', 's2']);
    expect(result?.document?.entries).toEqual([
      included('s1', 1),
      { shipmentId: 'shipments/s2', outcome, page: null, message },
    ]);
  });

  test('includes labels of up to 32 MiB in total, and marks the others as FAILED', async () => {
    const ids = idsOf(8);
    for (const id of ids) stage.shop.labels.set(id, await largeLabel(id, 4.9 * 1_048_576));
    const { result } = await stage.make([...ids, 's999']);
    const entries = result?.document?.entries ?? [];
    // A label is read at any time, so any of the large ones may be those that fail.
    expect(entries.filter(({ outcome }) => outcome === 'FAILED').map(({ message }) => message)).toEqual(
      Array(2).fill('The labels have more than 32 MiB together. Put this shipment into another document.'),
    );
    expect(entries.at(-1)?.outcome).toBe('INCLUDED');
  });

  describe('a rejected label', () => {
    const mebibyte = 1_048_576;
    const piece = Buffer.alloc(mebibyte);
    const large = (bytes: number) => (response: ServerResponse) => {
      response.writeHead(200, { ...pdf, 'content-length': bytes });
      response.end(Buffer.alloc(bytes));
    };
    test.each<[string, (response: ServerResponse) => unknown, string]>([
      [
        'breaks off',
        (response) => {
          response.writeHead(200, pdf);
          for (let count = 0; count < 4; count += 1) response.write(piece);
          setTimeout(() => response.destroy(), 200);
        },
        'FAILED',
      ],
      [
        'exceeds 5 MiB without a content-length',
        (response) => {
          response.writeHead(200, pdf);
          for (let count = 0; count < 6; count += 1) response.write(piece);
          response.end();
        },
        'UNREADABLE',
      ],
      ['has 6 MiB', large(6 * mebibyte), 'UNREADABLE'],
      ['has 20 MiB', large(20 * mebibyte), 'UNREADABLE'],
    ])('leaves its space to other labels if it %s', async (_what, send, outcome) => {
      const bad = idsOf(10);
      for (const id of bad) stage.shop.labels.set(id, send);
      const good = ['g1', 'g2', 'g3', 'g4', 'g5'];
      for (const id of good) stage.shop.labels.set(id, await largeLabel(id, 4.9 * mebibyte));
      const { result } = await stage.make([...bad, ...good]);
      const entries = result?.document?.entries ?? [];
      expect(entries.map((entry) => entry.outcome)).toEqual([
        ...bad.map(() => outcome),
        ...good.map(() => 'INCLUDED'),
      ]);
      if (outcome === 'UNREADABLE') expect(entries[0]?.message).toBe('The label has more than 5 MiB.');
    });

    test('is not read to the end if its content-length exceeds 5 MiB', async () => {
      stage.shop.labels.set('s2', (response) => {
        response.writeHead(200, { ...pdf, 'content-length': 5 * mebibyte + 1 }).write(piece);
      });
      const { result } = await stage.make(['s1', 's2']);
      expect(result?.document?.entries[1]).toMatchObject({
        outcome: 'UNREADABLE',
        message: 'The label has more than 5 MiB.',
      });
    });
  });

  test('marks a label as FAILED if REST does not send it in half of the time limit', async () => {
    // The process that makes documents has a low priority, and needs more than 10 s on a busy machine.
    await using slow = await startLabelShop({
      OPERATION_TIMEOUT_MS: '50000',
      UPSTREAM_TIMEOUT_MS: '60000',
    });
    slow.shop.labels.set('s2', () => {});
    const { result } = await slow.make(['s1', 's2']);
    expect(result?.document?.entries).toEqual([
      included('s1', 1),
      {
        shipmentId: 'shipments/s2',
        outcome: 'FAILED',
        page: null,
        message: 'The label was not read within half of the time limit of the operation.',
      },
    ]);
  });

  test('adds a summary even if REST sends a courier and a locality that are no texts', async () => {
    const { result } = await stage.make(['odd', 's2'], 'layout: A4_FOUR, summary: true');
    expect(result?.document).toMatchObject({ pageCount: 2, labelCount: 2 });
  });

  test('adds a summary for the driver as the last page', async () => {
    const { result } = await stage.make(['s1', 's2'], 'layout: A4_FOUR, summary: true');
    expect(result?.document).toMatchObject({ pageCount: 2, labelCount: 2 });
  });
});

describe('a document without any label', () => {
  test('causes InvalidInput with a field for each shipment', async () => {
    stage.shop.unlabelled.add('s1');
    stage.shop.missing.add('s2');
    stage.shop.labels.set('s3', Buffer.from('<html>'));
    const { result } = await stage.make(['s1', 's2', 's3']);
    expect(result).toEqual({
      __typename: 'InvalidInput',
      message: 'No document was made, because none of the 3 shipments has a label to print.',
      fields: [
        {
          path: 'shipments.0',
          message: 'has no label to print. This shipment has no label. Its status is GENERATING_LABEL',
          code: 'NOT_ALLOWED',
          limit: null,
        },
        {
          path: 'shipments.1',
          message: 'has no label to print. This shipment does not exist',
          code: 'NOT_FOUND',
          limit: null,
        },
        {
          path: 'shipments.2',
          message: 'has no label to print. The file is not a PDF',
          code: 'NOT_ALLOWED',
          limit: null,
        },
      ],
    });
  });

  test('has a message in the singular for one shipment', async () => {
    stage.shop.unlabelled.add('s1');
    const { result } = await stage.make(['s1']);
    expect(result?.message).toBe('No document was made, because the shipment has no label to print.');
  });

  test('causes the error of REST if all labels fail with the same error', async () => {
    for (const id of ['s1', 's2']) stage.shop.labels.set(id, (response) => response.writeHead(503).end());
    const { result, errors } = await stage.make(['s1', 's2']);
    expect(result).toBeNull();
    expect(errors).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE', retryable: true, upstreamStatus: 503 }]);
  });

  test('causes UNAUTHENTICATED if REST rejects the token for shipments or a label', async () => {
    stage.shop.rejected.add('revoked');
    const first = await stage.make(['s1'], '', 'revoked');
    expect([first.result, first.errors?.[0]?.code]).toEqual([null, 'UNAUTHENTICATED']);
    stage.shop.labels.set('s2', (response) => response.writeHead(401).end());
    const second = await stage.make(['s1', 's2']);
    expect([second.result, second.errors?.[0]?.code]).toEqual([null, 'UNAUTHENTICATED']);
  });
});

describe('an invalid input of createLabelDocument', () => {
  test.each([
    [['s1', 's2', 'shipments/s1'], '', [['shipments.2', 'DUPLICATE', null]]],
    [[], '', [['shipments', 'TOO_SHORT', 1]]],
    [idsOf(101), '', [['shipments', 'TOO_LONG', 100]]],
    [['orders/s1', 's2'], '', [['shipments.0', 'INVALID_FORMAT', null]]],
    [['s1'], 'startAt: 0', [['startAt', 'TOO_SMALL', 1]]],
    [['s1'], 'startAt: 2', [['startAt', 'TOO_LARGE', 1]]],
    [['s1'], 'layout: A4_FOUR, startAt: 5', [['startAt', 'TOO_LARGE', 4]]],
    [['s1'], 'layout: THERMAL_4X6_IN, startAt: 2', [['startAt', 'TOO_LARGE', 1]]],
    [['s1'], 'expiresInMinutes: 0', [['expiresInMinutes', 'TOO_SMALL', 1]]],
    [['s1'], 'expiresInMinutes: 1441', [['expiresInMinutes', 'TOO_LARGE', 1_440]]],
    [['s1'], 'layout: null', [['layout', 'NOT_ALLOWED', null]]],
    [
      ['s1'],
      'summary: null, startAt: null',
      [
        ['startAt', 'NOT_ALLOWED', null],
        ['summary', 'NOT_ALLOWED', null],
      ],
    ],
  ])('is rejected without a call: $0 $1', async (ids, input, expected) => {
    const { result } = await stage.make(ids, input);
    expect(result?.__typename).toBe('InvalidInput');
    expect(result?.fields?.map(({ path, code, limit }) => [path, code, limit])).toEqual(expected);
    expect(stage.calls()).toEqual([]);
  });
});

test.each([
  ['AS_IS', 'must be 1, but is 2'],
  ['A4_FOUR', 'must be from 1 to 4, but is 5'],
])('a message names the places of a sheet of %s', async (layout, message) => {
  const startAt = layout === 'AS_IS' ? 2 : 5;
  const { result } = await stage.make(['s1'], `layout: ${layout}, startAt: ${startAt}`);
  expect(result?.fields).toMatchObject([{ path: 'startAt', message }]);
  expect(stage.calls()).toEqual([]);
});

describe('the queue for documents', () => {
  /** REST holds the labels of these documents. */
  async function startHolding() {
    const holding = await startLabelShop({
      OPERATION_TIMEOUT_MS: '60000',
      UPSTREAM_TIMEOUT_MS: '60000',
    });
    const held = new Map<string, ServerResponse>();
    return {
      ...holding,
      held,
      hold: (id: string) => holding.shop.labels.set(id, (response) => held.set(id, response)),
      async send(id: string) {
        await until(() => held.has(id));
        const { plainLabel } = await import('../../fixtures/label-files.ts');
        held
          .get(id)
          ?.writeHead(200, pdf)
          .end(await plainLabel(id));
        held.delete(id);
      },
    };
  }

  test('makes one document per token at a time', async () => {
    const holding = await startHolding();
    await using _app = holding;
    for (const bearer of ['ana', 'eva']) await holding.ask('{ shipment(id: "s0") { id } }', bearer);
    for (const id of ['a1', 'a2', 'e1']) holding.hold(id);
    const first = holding.make(['a1'], '', 'ana');
    await until(() => holding.held.has('a1'));
    const second = holding.make(['a2'], '', 'ana');
    const other = holding.make(['e1'], '', 'eva');
    await until(() => holding.held.has('e1'));
    expect([...holding.held.keys()]).toEqual(['a1', 'e1']);
    expect(holding.calls()).not.toContain('GET /v1/shipments/a2');
    await holding.send('e1');
    expect((await other).result?.document?.labelCount).toBe(1);
    await holding.send('a1');
    await holding.send('a2');
    expect(
      [(await first).result, (await second).result].map((result) => result?.document?.labelCount),
    ).toEqual([1, 1]);
  });

  test('returns OVERLOADED without a call if many documents wait', async () => {
    const holding = await startHolding();
    await using _app = holding;
    await holding.ask('{ shipment(id: "s0") { id } }', 'ana');
    holding.hold('a0');
    const first = holding.make(['a0'], '', 'ana');
    await until(() => holding.held.has('a0'));
    const waiting = Array.from({ length: 8 }, (_one, index) => holding.make([`a${index + 1}`], '', 'ana'));
    const calls = () => holding.calls().length;
    const before = calls();
    const refused = await Promise.race([
      holding.make(['a9'], '', 'ana'),
      ...Array.from({ length: 3 }, () => holding.make(['a9'], '', 'ana')),
    ]);
    expect(refused).toMatchObject({
      result: null,
      errors: [{ code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 }],
    });
    expect(calls()).toBe(before);
    await holding.send('a0');
    await Promise.all([first, ...waiting]);
  });
});

test('each label costs ten points, which Waybill charges before the first call', async () => {
  await using limited = await startLabelShop({ RATE_LIMIT_POINTS_PER_SECOND: '10' });
  const points = async (query: string) => {
    const response = await limited.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer token',
        'x-upstream-cost': '1',
      },
      body: JSON.stringify({ query }),
    });
    return response.json();
  };
  const { extensions } = await points(documentMutation(['s1', 's2', 's3']));
  const single = await points(documentMutation(['s4']));
  expect(extensions.cost.points - single.extensions.cost.points).toBe(20);
  const before = limited.calls().length;
  const { errors } = await points(documentMutation(idsOf(90)));
  expect(errors[0].extensions.code).toBe('RATE_LIMITED');
  expect(limited.calls()).toHaveLength(before);
});

test('each label in a variable costs ten points too', async () => {
  await using limited = await startLabelShop({ RATE_LIMIT_POINTS_PER_SECOND: '1000' });
  const query = `mutation ($ids: [ID!]!, $input: CreateLabelDocumentInput!) {
    one: createLabelDocument(input: { shipments: $ids }) { __typename }
    two: createLabelDocument(input: $input) { __typename }
  }`;
  const send = async (count: number) => {
    const ids = idsOf(count);
    const response = await limited.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer token', 'x-upstream-cost': '1' },
      body: JSON.stringify({ query, variables: { ids, input: { shipments: ids } } }),
    });
    return (await response.json()).extensions.cost.points;
  };
  expect((await send(3)) - (await send(1))).toBe(40);
});

test('the death of the PDF process makes at most one document fail', async () => {
  const processes: { kill(signal: 'SIGKILL'): boolean }[] = [];
  await using app = await startLabelShop(
    {},
    { pdfMaker: { onProcess: (process) => processes.push(process) } },
  );
  const ids = idsOf(60);
  const held: ServerResponse[] = [];
  app.shop.labels.set('s999', (response) => held.push(response));
  const made = app.make([...ids, 's999']);
  await until(() => held.length === 1 && processes.length === 1);
  const { plainLabel } = await import('../../fixtures/label-files.ts');
  held[0]?.writeHead(200, pdf).end(await plainLabel('s999'));
  processes[0]?.kill('SIGKILL');
  const first = await made;
  // It may have started anew before the document was sent.
  if (first.result === null)
    expect(first.errors).toMatchObject([{ code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 }]);
  expect((await app.make(['s1'])).result?.document?.labelCount).toBe(1);
});

test('the PDF of a document has the number of pages that the result names', async () => {
  const made = await stage.make(['s1', 's2', 's3'], 'layout: LETTER_FOUR, startAt: 3');
  const response = await stage.fetch(pathOf(made));
  const document = await PDFDocument.load(await response.bytes());
  expect(document.getPageCount()).toBe(made.result?.document?.pageCount);
  expect(made.result?.document?.entries.map(({ page }) => page)).toEqual([1, 1, 2]);
});
