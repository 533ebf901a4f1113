import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { largeLabel, plainLabel } from '../../fixtures/label-files.ts';
import { pathOf, startLabelShop } from '../../fixtures/label-shop.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/rest-service.ts';

let stage: Awaited<ReturnType<typeof startLabelShop>>;
let path: string;
beforeAll(async () => {
  stage = await startLabelShop({ CORS_ORIGINS: 'https://desk.example' });
  path = pathOf(await stage.make(['s1']));
});
afterAll(() => stage[Symbol.asyncDispose]());

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the link of a document', () => {
  test('needs no header, can be opened twice, and costs no call', async () => {
    stage.service.requests.length = 0;
    const bodies = [await stage.fetch(path), await stage.fetch(path)];
    const [first, second] = await Promise.all(bodies.map((response) => response.bytes()));
    expect(bodies.map(({ status }) => status)).toEqual([200, 200]);
    expect(Buffer.from(first ?? []).toString('latin1', 0, 5)).toBe('%PDF-');
    expect(Buffer.compare(first ?? Buffer.alloc(0), second ?? Buffer.alloc(0))).toBe(0);
    expect(stage.calls()).toEqual([]);
  });

  test('has headers that keep the document private', async () => {
    const response = await stage.fetch(path);
    const bytes = await response.bytes();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(bytes.length),
      'content-disposition': `inline; filename="labels-${new Date().toISOString().slice(0, 10)}.pdf"`,
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });

  test('has the same headers and no body for HEAD', async () => {
    const [get, head] = [await stage.fetch(path), await stage.fetch(path, { method: 'HEAD' })];
    const headersOf = (response: Response) =>
      Object.entries(Object.fromEntries(response.headers)).filter(
        ([name]) => name.startsWith('content-') || name === 'cache-control',
      );
    expect(headersOf(head)).toEqual(headersOf(get));
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    await get.bytes();
  });

  test('rejects other methods', async () => {
    const response = await stage.fetch(path, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    await response.text();
  });

  test.each([
    ['https://desk.example', 'https://desk.example'],
    ['https://other.example', null],
  ])('lets only pages of listed origins read the document: %s', async (origin, allowed) => {
    const response = await stage.fetch(path, { headers: { origin } });
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    await response.bytes();
  });
});

describe('a link without a document', () => {
  /** All of a response by which one id could be told from another. */
  async function seen(link: string, headers: Record<string, string> = {}) {
    const response = await stage.fetch(link, { headers });
    const { 'x-request-id': _id, date: _date, ...others } = Object.fromEntries(response.headers);
    return { status: response.status, others, text: await response.text() };
  }

  test('gets the same 410 for a guess, an invalid id and a revoked token', async () => {
    const revoked = pathOf(await stage.make(['s1'], '', 'revoked'));
    expect((await stage.fetch(revoked)).status).toBe(200);
    stage.shop.rejected.add('revoked');
    await stage.ask('{ shipment(id: "s1") { id } }', 'revoked');
    for (const headers of [{}, { accept }]) {
      const expected = await seen('/documents/AAAAAAAAAAAAAAAAAAAAAA.pdf', headers);
      expect(expected.status).toBe(410);
      for (const link of [revoked, '/documents/x.pdf', '/documents/%00.pdf', path.replace('.pdf', '0.pdf')])
        expect(await seen(link, headers)).toEqual(expected);
    }
    // The documents of other tokens are alive.
    expect((await stage.fetch(path, { method: 'HEAD' })).status).toBe(200);
  });

  test('gets a page in a browser, and JSON in other clients', async () => {
    const gone = '/documents/BAAAAAAAAAAAAAAAAAAAAA.pdf';
    const page = await seen(gone, { accept });
    expect(page.others['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>This document is no longer available</h1>');
    const json = await seen(gone);
    expect(JSON.parse(json.text)).toEqual({
      errors: [
        {
          message: 'This document does not exist, or is no longer available. Make a new document.',
          extensions: { code: 'NOT_FOUND', retryable: false },
        },
      ],
    });
  });

  test('gets 410 for each of 1,000 guesses', async () => {
    const statuses = new Set<number>();
    for (let guess = 0; guess < 1_000; guess += 1) {
      const bytes = Buffer.alloc(16);
      bytes.writeUInt32BE(guess);
      const response = await stage.fetch(`/documents/${bytes.toString('base64url')}.pdf`, {
        method: 'HEAD',
      });
      statuses.add(response.status);
    }
    expect([...statuses]).toEqual([410]);
  });

  test('is not returned if REST rejects the token during createLabelDocument', async () => {
    const held: ServerResponse[] = [];
    stage.shop.labels.set('h1', (response) => held.push(response));
    const made = stage.make(['h1', 's1'], '', 'late');
    await until(() => held.length === 1);
    stage.shop.rejected.add('late');
    await stage.ask('{ shipment(id: "s2") { id } }', 'late');
    held[0]?.writeHead(200, { 'content-type': 'application/pdf' }).end(await plainLabel('h1'));
    const { result, errors } = await made;
    expect([result, errors?.[0]?.code]).toEqual([null, 'UNAUTHENTICATED']);
  });
});

test('a request for a document uses a label slot of the token that made the document', async () => {
  await using app = await startLabelShop({}, { labelRequestsAtOnce: 2, labelWaitMs: 300 });
  const link = pathOf(await app.make(['s1'], '', 'ana'));
  await app.ask('{ shipment(id: "s1") { id } }', 'eva');
  const held: ServerResponse[] = [];
  app.shop.labels.set('h1', (response) => held.push(response));
  const label = app.fetch('/labels/h1.pdf', { headers: { authorization: 'Bearer ana' } });
  await until(() => held.length === 1);
  // One of two slots is of this token.
  const refused = await app.fetch(link);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await refused.text();
  const other = pathOf(await app.make(['s1'], '', 'eva'));
  expect((await app.fetch(other)).status).toBe(200);
  held[0]?.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
  await (await label).bytes();
  expect((await app.fetch(link)).status).toBe(200);
});

test('a download that takes too long breaks off, and gives its slot back', async () => {
  const limits = { labelRequestsAtOnce: 2, labelWaitMs: 60_000, labelDownloadMs: 1_000 };
  await using app = await startLabelShop({}, limits);
  // More than the buffers between the server and a client that does not read.
  const ids = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6'];
  for (const id of ids) app.shop.labels.set(id, await largeLabel(id, 4_900_000));
  const link = pathOf(await app.make(ids));
  const unread = await app.fetch(link);
  expect((await app.fetch(link, { method: 'HEAD' })).status).toBe(200);
  await expect(unread.bytes()).rejects.toThrow();
});

test('a waiting request gets 410 if its document ends before a slot is free', async () => {
  await using app = await startLabelShop({}, { labelRequestsAtOnce: 2 });
  const link = pathOf(await app.make(['s1'], '', 'ana'));
  const held: ServerResponse[] = [];
  app.shop.labels.set('h1', (response) => held.push(response));
  const label = app.fetch('/labels/h1.pdf', { headers: { authorization: 'Bearer ana' } });
  await until(() => held.length === 1);
  const waiting = ['GET', 'HEAD'].map((method) => app.fetch(link, { method }));
  // Requests are found in their sequence, so those that wait have been found before.
  expect((await app.fetch('/documents/AAAAAAAAAAAAAAAAAAAAAA.pdf')).status).toBe(410);
  app.shop.rejected.add('ana');
  await app.ask('{ shipment(id: "s1") { id } }', 'ana');
  held[0]?.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF');
  await (await label).bytes();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([410, 410]);
});

test('no log line has an id of a document', async () => {
  const { log, text, lines } = recordedLog('debug');
  await using app = await startLabelShop({}, { log });
  const link = pathOf(await app.make(['s1']));
  await (await app.fetch(link)).bytes();
  await app.fetch('/documents/AAAAAAAAAAAAAAAAAAAAAA.pdf');
  await until(() => lines().filter(({ route }) => route === 'document').length === 2);
  expect(lines().filter(({ route }) => route === 'document')).toEqual([
    expect.objectContaining({ msg: 'a request ended', status: 200 }),
    expect.objectContaining({ msg: 'a request ended', status: 410, errors: { NOT_FOUND: 1 } }),
  ]);
  const id = link.slice('/documents/'.length, -'.pdf'.length);
  expect(id).toHaveLength(22);
  expect(text()).not.toContain(id);
  expect(text()).not.toContain('AAAAAAAAAAAAAAAAAAAAAA');
});
