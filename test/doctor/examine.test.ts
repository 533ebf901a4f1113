import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { examine, type Report } from '../../src/doctor/examine.ts';
import { type Fault, type Quirks, type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { trimmedSeed } from '../fixtures/trimmed-seed.ts';
import { newOrder, smallSeed } from '../sandbox/client.ts';

interface Examined {
  report: Report;
  sandbox: Sandbox;
  progress: string[];
}

interface Situation {
  /** By default the tests share one with 300 orders. */
  sandbox?: Sandbox;
  quirks?: Partial<Quirks>;
  faults?: Fault[];
  conversation?: string;
  /** A fault that begins with the call of this number. */
  laterFault?: [call: number, fault: Fault];
  /** Lets a day pass in the sandbox before the label is read. */
  isSlow?: boolean;
}

let shared: Sandbox;
beforeAll(async () => {
  shared = await startSandbox({ seed: trimmedSeed });
});
afterAll(() => shared.close());
afterEach(() => {
  shared.faults.clear();
  shared.requests.clear();
});

async function examined({
  sandbox = shared,
  quirks,
  faults = [],
  conversation,
  laterFault,
  isSlow = false,
}: Situation = {}): Promise<Examined> {
  // The first fault that matches takes effect.
  for (const fault of faults) sandbox.faults.add(fault);
  if (quirks !== undefined) sandbox.faults.add({ kind: 'quirks', quirks });
  const progress: string[] = [];
  const report = await examine({
    url: new URL(sandbox.url),
    token: sandbox.tokens.first,
    conversation,
    spacingMs: 0,
    onCall(number, call) {
      progress.push(`${number} ${call}`);
      if (isSlow && call.endsWith('/label')) sandbox.clock.advance(24 * 3_600_000);
      if (laterFault?.[0] === number) sandbox.faults.add(laterFault[1]);
    },
  });
  return { report, sandbox, progress };
}

/** A sandbox with two locations and without orders. */
async function startSmallSandbox(quirks: Partial<Quirks> = {}) {
  const sandbox = await startSandbox({ seed: smallSeed, quirks });
  return { sandbox, [Symbol.asyncDispose]: () => sandbox.close() };
}

/** A sandbox with more orders and shipments than the largest page. */
async function startWholeSandbox() {
  const sandbox = await startSandbox();
  return { sandbox, [Symbol.asyncDispose]: () => sandbox.close() };
}

const marksOf = ({ findings }: Report) =>
  Object.fromEntries(findings.map(({ check, mark }) => [check, mark]));
const findingOf = ({ findings }: Report, check: string) =>
  findings.find((finding) => finding.check === check);
const notOk = ({ findings }: Report) =>
  findings.filter(({ mark }) => mark !== 'ok').map(({ check }) => check);

const change = (path: string | RegExp, edit: (answer: object) => object): Fault => ({
  kind: 'change',
  path,
  change: (answer) => edit(Object(answer)),
});

const editRows = (kind: string, edit: (row: object) => object): Fault =>
  change(`/v1/${kind}`, (answer) => {
    const rows: unknown = Reflect.get(answer, kind);
    return { ...answer, [kind]: Array.isArray(rows) ? rows.map((row) => edit(Object(row))) : rows };
  });

test('the full sandbox passes every check', async () => {
  await using whole = await startWholeSandbox();
  const { report, progress, sandbox } = await examined({
    sandbox: whole.sandbox,
    conversation: 'channels/ca1/conversations/ca60',
  });
  // No status changes within seconds.
  expect(notOk(report)).toEqual(['update time']);
  expect(report).toMatchObject({
    isUsable: true,
    settings: {
      UPSTREAM_URL: sandbox.url,
      PAGE_SIZE_PARAMETER: 'pageSize',
      PAGE_TOKEN_PARAMETER: 'pageToken',
      STATUS_PARAMETER: 'status',
      SEARCH_PARAMETER: 'search',
      QUERY_PARAMETER: 'query',
    },
  });
  expect(report.settings).not.toHaveProperty('UPSTREAM_LISTS_FOR_BATCHES');
  expect(progress).toHaveLength(report.calls);
  expect(sandbox.requests.lines().every((line) => line.startsWith('GET '))).toBe(true);
});

test('the report contains no token, identifier or personal data', async () => {
  const { report, progress, sandbox } = await examined({
    conversation: 'channels/ca1/conversations/ca60',
    quirks: { unknownParameters: 'ignored' },
    faults: [
      {
        kind: 'content-type',
        path: '/v1/orders/waybill-doctor-none',
        contentType: 'text/sandbox-cafe-andino',
      },
      editRows('orders', (row) => ({ ...row, 'sandbox-cafe-andino': 1, 'Lucía Ñáñez': 1, updateTime: 7 })),
    ],
  });
  const said = JSON.stringify([report, progress]);
  expect(said).toContain('unknown field Order.*');
  expect(said).not.toContain(sandbox.tokens.first);
  expect(said).not.toMatch(/\bca\d{3}|Lucía|@|\+57|\d{7}/);
});

test.each<[string, Partial<Quirks>, string, string]>([
  ['a missing Date header', { hasDate: false }, 'clock', 'no usable Date header'],
  ['a clock that is behind', { dateOffsetMs: -90_000 }, 'clock', 'behind'],
  [
    'lists that are sorted oldest first',
    { oldestFirst: true },
    'order of lists',
    'orders: oldest first, shipments: oldest first',
  ],
])('the doctor warns of %s', async (_name, quirks, check, cause) => {
  const { report } = await examined({ quirks });
  expect(report.isUsable).toBe(true);
  expect(findingOf(report, check)).toEqual({
    check,
    mark: 'warning',
    cause: expect.stringContaining(cause),
    remedy: expect.any(String),
  });
});

test('the doctor warns of errors without a message for people', async () => {
  const path = '/v1/orders/waybill-doctor-none';
  const bodies: [body: unknown, contents: string][] = [
    [{ number: 7 }, 'number'],
    ['<html>404</html>', 'text/html'],
  ];
  for (const [body, contents] of bodies) {
    shared.faults.clear();
    const contentType = typeof body === 'string' ? 'text/html' : 'application/json';
    const { report } = await examined({ faults: [{ kind: 'status', status: 404, path, body, contentType }] });
    expect(findingOf(report, 'error 404')).toEqual({
      check: 'error 404',
      mark: 'warning',
      cause: `The 404 response contains ${contents}. Waybill finds no error message in it.`,
      remedy: expect.stringContaining('Clients get a generic message with the status.'),
    });
  }
});

test.each(['error 404', 'error 400'])(
  'the doctor finds the message of an %s in plain text',
  async (check) => {
    const { report } = await examined({ quirks: { errorBody: 'text' } });
    const [, status] = check.split(' ');
    expect(findingOf(report, check)).toMatchObject({
      mark: 'ok',
      cause: `The ${status} response contains text/plain. Waybill finds the message.`,
    });
  },
);

test('the doctor sets UPSTREAM_LISTS_FOR_BATCHES to "no" if list rows lack fields', async () => {
  const { report } = await examined({ quirks: { rowsLack: { orders: ['notes', 'updateTime'] } } });
  expect(findingOf(report, 'rows and records')?.cause).toBe(
    'Rows and records differ in orders.notes, orders.updateTime.',
  );
  expect(report.settings.UPSTREAM_LISTS_FOR_BATCHES).toBe('no');
});

test('the doctor sets UPSTREAM_LISTS_FOR_BATCHES to "no" if pages are too short', async () => {
  await using whole = await startWholeSandbox();
  const shorten = change('/v1/shipments', (answer) => {
    const rows: unknown = Reflect.get(answer, 'shipments');
    return { ...answer, shipments: Array.isArray(rows) ? rows.slice(0, 500) : rows };
  });
  const { report } = await examined({ sandbox: whole.sandbox, faults: [shorten] });
  expect(marksOf(report)).toMatchObject({ 'page of orders': 'ok', 'page of shipments': 'warning' });
  expect(report.settings.UPSTREAM_LISTS_FOR_BATCHES).toBe('no');
});

test.each([
  ['empty', '""'],
  ['null', 'null'],
  ['absent', 'absent'],
] as const)(
  'the report states that the nextPageToken of the last page is %s',
  async (lastPageToken, form) => {
    const { report } = await examined({ quirks: { lastPageToken } });
    expect(findingOf(report, 'last page')?.cause).toBe(`The nextPageToken of the last page is ${form}.`);
  },
);

test.each<[string, Fault[], boolean, object]>([
  [
    'moves with the status',
    [],
    true,
    { mark: 'ok', cause: expect.stringMatching(/^The updateTime of a shipment moves with its status/) },
  ],
  [
    'stays the same',
    [editRows('shipments', (row) => ({ ...row, updateTime: '2026-11-02T00:00:00Z' }))],
    true,
    { mark: 'warning', cause: 'A shipment changed its status, and its updateTime stayed the same.' },
  ],
  [
    'is not there',
    [editRows('shipments', (row) => ({ ...row, updateTime: undefined }))],
    true,
    { mark: 'warning', cause: 'A shipment changed its status, and its updateTime stayed the same.' },
  ],
  [
    'may move, but no status changes',
    [],
    false,
    { mark: 'open', cause: 'Not proven: no shipment changed its status while the doctor ran.' },
  ],
])('the doctor tells whether updateTime %s', async (_what, faults, isSlow, finding) => {
  const sandbox = await startSandbox({ seed: trimmedSeed });
  const { report } = await examined({ sandbox, faults, isSlow });
  await sandbox.close();
  expect(findingOf(report, 'update time')).toMatchObject(finding);
  expect(report.isUsable).toBe(true);
});

test('the report lists how records differ from the wire schema', async () => {
  const { report } = await examined({
    faults: [
      editRows('shipments', (row) => ({ ...row, status: 'ON_HOLD', giftWrap: true })),
      change(/^\/v1\/quotes\//, (quote) => ({ ...quote, offers: 'none' })),
      change('/v1/organizations/mine', (own) => ({ ...own, balanceCents: undefined })),
    ],
  });
  const causeOf = (check: string) => findingOf(report, check)?.cause;
  expect(causeOf('fields of shipments')).toBe(
    'unknown field Shipment.giftWrap, unknown value Shipment.status ON_HOLD.',
  );
  expect(causeOf('fields of quotes')).toBe('wrong type Quote.offers.');
  expect(causeOf('fields of organization')).toBe('missing Organization.balanceCents.');
  expect(report.isUsable).toBe(true);
});

test.each<[string, Fault, string]>([
  ['not a PDF', { kind: 'content-type', path: /\/label$/, contentType: 'text/html' }, 'label'],
  [
    'a PDF only by its content type',
    { kind: 'status', path: /\/label$/, status: 200, body: '<html>', contentType: 'application/pdf' },
    'label',
  ],
])('the doctor reports a failure for a label that is %s', async (_name, fault, check) => {
  const { report } = await examined({ faults: [fault] });
  expect(findingOf(report, check)?.mark).toBe('failure');
  expect(report).toMatchObject({ isUsable: false, settings: {} });
});

test.each([
  ['is not found', { kind: 'status', status: 404, body: {} }],
  [
    'has no id',
    { kind: 'change', change: (own: unknown) => ({ ...Object(own), name: 'organization/mine' }) },
  ],
] as const)('the doctor warns if the organization %s', async (_name, fault) => {
  const { report } = await examined({ faults: [{ path: '/v1/organizations/mine', ...fault }] });
  expect(findingOf(report, 'organization')?.mark).toBe('warning');
});

test('the doctor warns of a service that does not check tokens', async () => {
  const token = 'waybill-doctor-broken-token';
  const { report } = await examined({ faults: [{ kind: 'status', status: 200, body: {}, token }] });
  expect(findingOf(report, 'access token')?.cause).toContain('an invalid token gets 200');
});

test('checks without enough data get the mark "?" and change no setting', async () => {
  await using small = await startSmallSandbox();
  const { report } = await examined({ sandbox: small.sandbox });
  expect(report.isUsable).toBe(true);
  expect(marksOf(report)).toMatchObject({
    // Two locations prove these.
    'page size': 'ok',
    'page token': 'ok',
    'search of locations': 'ok',
    'status filter': 'open',
    'search of orders': 'open',
    'order of lists': 'open',
    label: 'open',
  });
  expect(findingOf(report, 'search of orders')?.cause).toContain('The check needs two orders');
  expect(report.settings).not.toHaveProperty('STATUS_PARAMETER');
  expect(report.settings).not.toHaveProperty('SEARCH_PARAMETER');
});

test('two orders are enough to find the search parameter', async () => {
  await using small = await startSmallSandbox({ parameterNames: { search: 'q' } });
  const { sandbox } = small;
  for (const referenceId of ['WEB-1', 'WEB-2']) {
    await fetch(`${sandbox.url}/v1/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.first}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...newOrder, referenceId }),
    });
  }
  const { report } = await examined({ sandbox });
  expect(report.settings).toMatchObject({ SEARCH_PARAMETER: 'q', PAGE_TOKEN_PARAMETER: 'pageToken' });
});

const unheardOf = {
  pageSize: 'howMany',
  pageToken: 'fromHere',
  status: 'inState',
  search: 'like',
  query: 'near',
};

test('the doctor reports unusual parameter names as failures, within 80 calls', async () => {
  const { report } = await examined({ quirks: { parameterNames: unheardOf } });
  expect(report.isUsable).toBe(false);
  expect(report.calls).toBeLessThanOrEqual(80);
  expect(marksOf(report)).toMatchObject({
    'page size': 'failure',
    'page token': 'failure',
    'error 404': 'ok',
  });
  expect(findingOf(report, 'page token')?.remedy).toContain('set PAGE_TOKEN_PARAMETER');
});

test('the doctor warns if it cannot find the name of the status filter', async () => {
  const { report } = await examined({
    quirks: { parameterNames: { status: 'inState' }, unknownParameters: 'ignored' },
  });
  expect(findingOf(report, 'status filter')?.mark).toBe('warning');
  expect(report.isUsable).toBe(true);
});

test('a 429 leaves the remaining checks with the mark "?"', async () => {
  const { report } = await examined({ laterFault: [20, { kind: 'status', status: 429, body: {} }] });
  expect(report.calls).toBe(20);
  expect(report.isUsable).toBe(true);
  expect(findingOf(report, 'error 404')).toMatchObject({
    mark: 'open',
    cause: expect.stringContaining('the doctor stopped after an earlier failure'),
  });
  expect(report.settings).toHaveProperty('QUERY_PARAMETER');
});

test('a 429 for the token leaves the service unproven', async () => {
  const { report } = await examined({ laterFault: [2, { kind: 'status', status: 429, body: {} }] });
  expect(marksOf(report)).toEqual({ address: 'ok', 'access token': 'open' });
  expect(report).toMatchObject({ calls: 2, isUsable: false, settings: {} });
});

test.each([-5_000, 5_000])(
  'a clock that differs by %d ms has the same text as any other',
  async (dateOffsetMs) => {
    const { report } = await examined({ quirks: { dateOffsetMs } });
    expect(findingOf(report, 'clock')).toMatchObject({
      mark: 'ok',
      cause: expect.stringMatching(/^The Date header is \d+ s off the clock of this machine\.$/),
    });
  },
);

test('three failed calls in a row end the run', async () => {
  const { report } = await examined({ laterFault: [20, { kind: 'reset' }] });
  expect(report.calls).toBe(22);
  expect(report.isUsable).toBe(true);
});

test('a check gets the mark "?" after a single failed call', async () => {
  const { report } = await examined({
    faults: [{ kind: 'reset', path: '/v1/organizations/mine', times: 1 }],
  });
  expect(findingOf(report, 'organization')?.mark).toBe('open');
  expect(findingOf(report, 'error 404')?.mark).toBe('ok');
});
