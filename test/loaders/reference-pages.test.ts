import { describe, expect, test } from 'vitest';
import { referenceLoaders } from '../../src/loaders/reference-loader.ts';
import { createReferencePages, type ReferenceTimes } from '../../src/loaders/reference-pages.ts';
import { type Caller, createCallers } from '../../src/rest/caller.ts';
import { InvalidResponseError, StatusError, UnavailableError } from '../../src/rest/errors.ts';
import { createLedger, enter } from '../../src/rest/ledger.ts';
import { createRoom, type RoomOptions } from '../../src/rest/room.ts';
import type { Page, PageQuery } from '../../src/rest/types.ts';
import { named, type Row } from './list.ts';

interface Call {
  /** `origins 20`, and `origins 20@token` for a later page. */
  of: string;
  caller: Caller;
  give(...rows: (Row | InvalidResponseError)[]): Promise<void>;
  /** Gives no rows, which were so many bytes of JSON. */
  giveBytes(bytes: number): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Pages kept for one second and answered for five more, the time of which passes as it is told to. */
function startKeeping({
  referenceMs = 1_000,
  referenceGraceMs = 5_000,
  ...roomOptions
}: Partial<ReferenceTimes> & RoomOptions = {}) {
  const clock = { nowMs: 0 };
  const keep = () => createReferencePages({ referenceMs, referenceGraceMs }, () => clock.nowMs);
  const pagesByToken = new Map([['token', keep()]]);
  const callers = createCallers({
    callsPerOperation: 16,
    readsPerOperation: 3,
    room: createRoom(roomOptions),
  });
  const calls: Call[] = [];

  function read(of: string, caller: Caller): Promise<Page<Row>> {
    const { promise, resolve, reject } = Promise.withResolvers<Page<Row>>();
    const ended = () => new Promise<void>((done) => setImmediate(done));
    calls.push({
      of,
      caller,
      give: (...rows) => {
        resolve({ rows, nextPageToken: undefined });
        return ended();
      },
      giveBytes(bytes) {
        const entry = enter(createLedger(), { method: 'GET', path: '/v1/origins' });
        caller.heard(Object.assign(entry, { status: 200, bytes }));
        resolve({ rows: [], nextPageToken: undefined });
        return ended();
      },
      fail: (error) => {
        reject(error);
        return ended();
      },
    });
    return promise;
  }

  /** The loaders of a new operation. */
  function operation(signal = new AbortController().signal, token = 'token') {
    const caller = callers.of(token, signal);
    const pages = pagesByToken.get(token) ?? keep();
    pagesByToken.set(token, pages);
    const loaderOf = referenceLoaders(caller, pages);
    const over = (list: string) =>
      loaderOf<Row, PageQuery>(list, ({ pageSize, pageToken }, caller) =>
        read(`${list} ${pageSize}${pageToken === undefined ? '' : `@${pageToken}`}`, caller),
      );
    return { caller, origins: over('origins'), channels: over('channels') };
  }

  /** The call that was made last. */
  async function lastCall(): Promise<Call> {
    await new Promise((done) => setImmediate(done));
    const call = calls.at(-1);
    if (call === undefined) throw new Error('no call was made');
    return call;
  }

  /** What a new operation gets for 20 origins without a call of its own. */
  async function known(): Promise<string[]> {
    return names(await operation().origins.load({ pageSize: 20 }));
  }

  /** Reads 20 origins in an operation that has to wait for them. */
  async function learn(...rows: (Row | InvalidResponseError)[]): Promise<void> {
    const page = operation().origins.load({ pageSize: 20 });
    await (await lastCall()).give(...rows);
    await page;
  }

  return { clock, calls, operation, lastCall, known, learn, lines: () => calls.map(({ of }) => of) };
}

const names = ({ rows }: Page<Row>) => rows.map(({ name }) => name);
const unavailable = new UnavailableError('GET /v1/origins got no answer');
const answered = (status: number) =>
  new StatusError({ method: 'GET', path: '/v1/origins' }, status, { fields: [] });

describe('a page that an operation has read', () => {
  test('needs no call in those after it, as long as it is taken for what it is', async () => {
    const { clock, known, learn, lines } = startKeeping();
    await learn(...named('a'));
    clock.nowMs = 999;
    expect([await known(), await known()]).toEqual([['a'], ['a']]);
    expect(lines()).toEqual(['origins 20']);
  });

  test('counts as known once in each', async () => {
    const { operation, learn } = startKeeping();
    await learn(...named('a'));
    const { caller, origins } = operation();
    expect(origins.knows({ pageSize: 20 })).toBe(true);
    await Promise.all([origins.load({ pageSize: 20 }), origins.load({ pageSize: 20 })]);
    await origins.load({ pageSize: 20 });
    expect([caller.ledger.cached, caller.ledger.entries]).toEqual([1, []]);
  });

  test('is of one query and one list', async () => {
    const { operation, learn, lines } = startKeeping();
    await learn(...named('a'));
    const { caller, origins, channels } = operation();
    expect(origins.knows({ pageSize: 20, pageToken: undefined })).toBe(true);
    expect(origins.knows({ pageSize: 20, pageToken: 't' })).toBe(false);
    expect(channels.knows({ pageSize: 20 })).toBe(false);
    void origins.load({ pageSize: 21 });
    void origins.load({ pageSize: 20, pageToken: 't' });
    void channels.load({ pageSize: 20 });
    await new Promise((done) => setImmediate(done));
    expect(lines()).toEqual(['origins 20', 'origins 21', 'origins 20@t', 'channels 20']);
    expect(caller.ledger.cached).toBe(0);
  });

  test('is as old as the call for it', async () => {
    const { clock, operation, lastCall, known, lines } = startKeeping();
    void operation().origins.load({ pageSize: 20 });
    const call = await lastCall();
    clock.nowMs = 900;
    await call.give(...named('a'));
    clock.nowMs = 1_000;
    expect(await known()).toEqual(['a']);
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('is not put in the place of one that was asked for later', async () => {
    const { clock, operation, lastCall, known } = startKeeping();
    void operation().origins.load({ pageSize: 20 });
    const early = await lastCall();
    clock.nowMs = 1;
    void operation().origins.load({ pageSize: 20 });
    await (await lastCall()).give(...named('new'));
    await early.give(...named('old'));
    expect(await known()).toEqual(['new']);
  });

  test('is not kept where it holds a broken row', async () => {
    const { learn, operation } = startKeeping();
    await learn(...named('a'), new InvalidResponseError('no record in row 1'));
    expect(operation().origins.knows({ pageSize: 20 })).toBe(false);
  });

  test('is not kept where it is an error', async () => {
    const { operation, lastCall } = startKeeping();
    const failed = operation().origins.load({ pageSize: 20 });
    void failed.catch(() => {});
    await (await lastCall()).fail(unavailable);
    await expect(failed).rejects.toBe(unavailable);
    expect(operation().origins.knows({ pageSize: 20 })).toBe(false);
  });

  test('is not kept where nothing is to be, but is known in its own operation', async () => {
    const { operation, lastCall } = startKeeping({ referenceMs: 0 });
    const { origins } = operation();
    void origins.load({ pageSize: 20 });
    await (await lastCall()).give(...named('a'));
    expect([origins, operation().origins].map((each) => each.knows({ pageSize: 20 }))).toEqual([true, false]);
    origins.clearAll();
    expect(origins.knows({ pageSize: 20 })).toBe(false);
  });
});

describe('a page that has become old', () => {
  test('is answered at once, while one call reads it anew for who asks later', async () => {
    const { clock, known, learn, lastCall, lines } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 1_000;
    expect(await Promise.all([known(), known()])).toEqual([['old'], ['old']]);
    expect(await known()).toEqual(['old']);
    await (await lastCall()).give(...named('new'));
    clock.nowMs = 1_999;
    expect(await known()).toEqual(['new']);
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });

  test('is read anew for longer than the operation lives, at no cost to it', async () => {
    const { clock, operation, learn, lastCall } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 1_000;
    const client = new AbortController();
    const { caller, origins } = operation(client.signal);
    await origins.load({ pageSize: 20 });
    client.abort();
    const { caller: later } = await lastCall();
    expect([later.bearer, later.tenant, later.signal.aborted]).toEqual(['token', caller.tenant, false]);
    expect(later.ledger).not.toBe(caller.ledger);
    const spendAll = () => {
      for (let reads = 0; reads < 10; reads += 1) later.spend({ method: 'GET', path: '/v1/origins' });
    };
    expect(spendAll).not.toThrow();
  });

  test('is answered on where that call fails, which the next who asks makes again', async () => {
    const { clock, known, learn, lastCall, lines } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 2_000;
    expect(await known()).toEqual(['old']);
    await (await lastCall()).fail(unavailable);
    clock.nowMs = 5_999;
    expect(await known()).toEqual(['old']);
    await (await lastCall()).give(...named('new'));
    expect(await known()).toEqual(['new']);
    expect(lines()).toHaveLength(3);
  });

  test.each([401, 403, 404, 410])('is none any more where that call is answered %i', async (status) => {
    const { clock, known, learn, lastCall, operation } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 2_000;
    await known();
    await (await lastCall()).fail(answered(status));
    expect(operation().origins.knows({ pageSize: 20 })).toBe(false);
  });

  test.each([429, 500, 503])('is answered on where that call is answered %i', async (status) => {
    const { clock, known, learn, lastCall } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 2_000;
    await known();
    await (await lastCall()).fail(answered(status));
    expect(await known()).toEqual(['old']);
  });

  test('is waited for once the grace is over', async () => {
    const { clock, operation, learn, lastCall, known } = startKeeping();
    await learn(...named('old'));
    clock.nowMs = 6_000;
    const { caller, origins } = operation();
    expect(origins.knows({ pageSize: 20 })).toBe(false);
    const page = origins.load({ pageSize: 20 });
    await (await lastCall()).give(...named('new'));
    expect([names(await page), caller.ledger.cached]).toEqual([['new'], 0]);
    expect(await known()).toEqual(['new']);
  });

  test('is waited for at once where there is no grace', async () => {
    const { clock, operation, learn } = startKeeping({ referenceGraceMs: 0 });
    await learn(...named('old'));
    clock.nowMs = 1_000;
    expect(operation().origins.knows({ pageSize: 20 })).toBe(false);
  });
});

describe('what is kept has bounds', () => {
  const { signal } = new AbortController();
  // A page without rows counts for as much.
  const pageBytes = 1_024;

  /** Reads pages of origins of so many bytes, and says which are known at the end: `ana 3`, by the size asked for. */
  async function keptOf(options: RoomOptions, reads: [token: string, pageSize: number, bytes: number][]) {
    const { operation, lastCall } = startKeeping(options);
    for (const [token, pageSize, bytes] of reads) {
      const { origins } = operation(signal, token);
      const isKept = origins.knows({ pageSize });
      const page = origins.load({ pageSize });
      if (!isKept) await (await lastCall()).giveBytes(bytes);
      await page;
    }
    return [...new Set(reads.map(([token, pageSize]) => `${token} ${pageSize}`))].filter((each) => {
      const [token = '', pageSize] = each.split(' ');
      return operation(signal, token).origins.knows({ pageSize: Number(pageSize) });
    });
  }

  test('of an eighth of 64 MiB for each tenant, and all of it for all', async () => {
    const share = 8 * 2 ** 20;
    const whole = share - pageBytes;
    const tokens = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const reads = tokens.map((token): [string, number, number] => [token, 1, whole]);
    expect(await keptOf({}, [['a', 1, whole]])).toEqual(['a 1']);
    expect(await keptOf({}, [['a', 1, whole + 1]])).toEqual([]);
    expect(await keptOf({}, reads.slice(0, 8))).toEqual(tokens.slice(0, 8).map((token) => `${token} 1`));
    expect(await keptOf({}, reads)).toEqual(tokens.slice(1).map((token) => `${token} 1`));
  });

  test('beyond which a tenant loses the own pages that were not asked for for longest', async () => {
    const options = { maxBytesPerTenant: 4 * pageBytes, maxBytes: 100 * pageBytes };
    const read = (pageSize: number): [string, number, number] => ['ana', pageSize, 0];
    expect(await keptOf(options, [1, 2, 3, 4].map(read))).toEqual(['ana 1', 'ana 2', 'ana 3', 'ana 4']);
    expect(await keptOf(options, [1, 2, 3, 4, 1, 5, 6].map(read))).toEqual([
      'ana 1',
      'ana 4',
      'ana 5',
      'ana 6',
    ]);
  });

  test('beyond which of all tenants those pages go that were not asked for for longest', async () => {
    const options = { maxBytesPerTenant: 3 * pageBytes, maxBytes: 4 * pageBytes };
    expect(
      await keptOf(options, [
        ['ana', 1, 0],
        ['ana', 2, 0],
        ['eva', 1, 0],
        ['eva', 2, 0],
        ['ana', 1, 0],
        ['ida', 1, 0],
        ['ida', 2, 0],
      ]),
    ).toEqual(['ana 1', 'eva 2', 'ida 1', 'ida 2']);
  });

  test('by which one tenant, however much it asks for, leaves the others theirs', async () => {
    const options = { maxBytesPerTenant: 2 * pageBytes, maxBytes: 4 * pageBytes };
    const many = Array.from({ length: 50 }, (_, index): [string, number, number] => ['eva', index + 1, 0]);
    expect(await keptOf(options, [['ana', 1, 0], ['ana', 2, 0], ...many])).toEqual([
      'ana 1',
      'ana 2',
      'eva 49',
      'eva 50',
    ]);
  });

  test('which a page that is larger than the share leaves as it is, but in its own place', async () => {
    const options = { maxBytesPerTenant: 4 * pageBytes, maxBytes: 100 * pageBytes };
    const large = 4 * pageBytes;
    expect(
      await keptOf(options, [
        ['ana', 1, 0],
        ['ana', 2, large],
      ]),
    ).toEqual(['ana 1']);
  });

  test('in which a page that is read anew takes its place once', async () => {
    const { operation, lastCall, clock } = startKeeping({ referenceGraceMs: 0, maxBytesPerTenant: 2_048 });
    for (const pageSize of [1, 2, 1, 1, 1]) {
      void operation().origins.load({ pageSize });
      await (await lastCall()).giveBytes(0);
      if (pageSize === 1) clock.nowMs += 200;
    }
    expect([1, 2].map((pageSize) => operation().origins.knows({ pageSize }))).toEqual([true, true]);
  });
});

describe('a page that is under way', () => {
  test('costs no call more in its own operation', async () => {
    const { operation, lines, lastCall } = startKeeping();
    const { origins } = operation();
    const page = origins.load({ pageSize: 20 });
    expect([origins.knows({ pageSize: 20 }), origins.isOwn({ pageSize: 20 })]).toEqual([true, false]);
    await (await lastCall()).give(...named('a'));
    expect([names(await page), names(await origins.load({ pageSize: 20 }))]).toEqual([['a'], ['a']]);
    expect(lines()).toEqual(['origins 20']);
  });

  test('for another operation of the tenant is known until it has failed, and to no other tenant', async () => {
    const { operation, lastCall } = startKeeping();
    const { signal } = new AbortController();
    const knows = () =>
      ['token', 'another'].map((token) => operation(signal, token).origins.knows({ pageSize: 20 }));
    const failed = operation().origins.load({ pageSize: 20 });
    void failed.catch(() => {});
    const call = await lastCall();
    expect(knows()).toEqual([true, false]);
    await call.fail(unavailable);
    expect(knows()).toEqual([false, false]);
  });

  test('is none any more where all is forgotten', async () => {
    const { operation } = startKeeping({ referenceMs: 0 });
    const { origins } = operation();
    void origins.load({ pageSize: 20 });
    origins.clearAll();
    expect(origins.knows({ pageSize: 20 })).toBe(false);
  });
});

describe('an operation that takes nothing from earlier ones any more', () => {
  test('reads such pages anew, for others too, and its own not', async () => {
    const { operation, learn, lastCall, known, lines } = startKeeping();
    await learn(...named('old'));
    const { origins } = operation();
    await origins.load({ pageSize: 20 });
    void origins.load({ pageSize: 5 });
    await (await lastCall()).give(...named('a'));
    expect(origins.forgetEarlier()).toBe(true);
    expect([origins.knows({ pageSize: 20 }), origins.knows({ pageSize: 5 })]).toEqual([false, true]);
    const page = origins.load({ pageSize: 20 });
    void origins.load({ pageSize: 5 });
    await (await lastCall()).give(...named('new'));
    expect([names(await page), await known()]).toEqual([['new'], ['new']]);
    expect(origins.forgetEarlier()).toBe(false);
    await origins.load({ pageSize: 20 });
    expect(lines()).toEqual(['origins 20', 'origins 5', 'origins 20']);
  });

  test('reads for itself what it has not read yet', async () => {
    const { operation, learn, lines } = startKeeping();
    await learn(...named('old'));
    const { origins } = operation();
    expect(origins.forgetEarlier()).toBe(false);
    expect(origins.knows({ pageSize: 20 })).toBe(false);
    void origins.load({ pageSize: 20 });
    await new Promise((done) => setImmediate(done));
    expect(lines()).toEqual(['origins 20', 'origins 20']);
  });
});
