import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import { LoopTurns } from '../../../src/concurrency/loop-turns.ts';
import type { Owner } from '../../../src/concurrency/owner.ts';
import { SimpleRequest } from '../../../src/concurrency/semaphore.ts';
import { Admission } from '../../../src/server/operations/admission.ts';

const accepted = (name: string): Owner => ({ token: { name }, connection: undefined });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** The response to a POST with a body of this length. */
function responseTo(bodyBytes?: number): ServerResponse {
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  if (bodyBytes !== undefined) request.headers['content-length'] = String(bodyBytes);
  return new ServerResponse(request);
}

const small = responseTo(100);

/** An admission with at most 3,000 nodes for an operation, and the operations in the order in which they started. */
function createAdmission(requestsAtOnce = 1_000) {
  const started: string[] = [];
  const admission = new Admission({
    requestsAtOnce,
    maxNodes: 3_000,
    unreadBytesAtOnce: 1_000,
    turns: new LoopTurns(),
  });
  const enter = (name: string, owner: Owner, nodes: number, response = small) => {
    const operation = new SimpleRequest(owner, nodes, () => started.push(name));
    const outcome = admission.enter(operation, response);
    if (outcome === 'started') started.push(name);
    return { operation, outcome };
  };
  return { admission, started, enter };
}

test('one heavy operation starts per turn of the event loop, and tokens alternate', async () => {
  const { started, enter } = createAdmission();
  const [ana, eva] = [accepted('ana'), accepted('eva')];
  for (const name of ['ana 1', 'ana 2', 'ana 3']) enter(name, ana, 700);
  enter('eva 1', eva, 700);
  expect(started).toEqual(['ana 1']);
  for (const expected of ['ana 2', 'eva 1', 'ana 3']) {
    await nextTurn();
    expect(started.at(-1)).toBe(expected);
  }
});

test('light operations start even if heavy operations have reached their limit', async () => {
  const { started, enter } = createAdmission();
  for (const name of ['ana', 'eva', 'ida', 'uma']) {
    enter(name, accepted(name), 3_000);
    await nextTurn();
  }
  expect(started).toEqual(['ana', 'eva', 'ida']);
  enter('lia', accepted('lia'), 600);
  expect(started).toEqual(['ana', 'eva', 'ida', 'lia']);
});

test('light operations of a token start even if its heavy operations must wait', async () => {
  const { started, enter } = createAdmission();
  const ana = accepted('ana');
  for (const name of ['1', '2', '3', '4']) {
    enter(name, ana, 1_500);
    await nextTurn();
  }
  enter('light', ana, 100);
  expect(started).toEqual(['1', '2', '3', 'light']);
});

test('a request beyond the limit is refused until another request ends', () => {
  const { admission, enter } = createAdmission(2);
  const [ana, eva] = [accepted('ana'), accepted('eva')];
  const { operation } = enter('1', ana, 10);
  expect(enter('2', ana, 10).outcome).toMatchObject({
    status: 503,
    code: 'OVERLOADED',
    retryAfterMs: 1_000,
    message: 'The server is at its limit of GraphQL requests for this token. Retry later.',
  });
  enter('3', eva, 10);
  expect(admission.overloadError()?.code).toBe('OVERLOADED');
  admission.leave(operation, small);
  admission.leave(operation, small);
  expect([enter('4', ana, 10).outcome, enter('5', ana, 10).outcome]).toMatchObject([
    'started',
    { code: 'OVERLOADED' },
  ]);
});

test.each([
  ['100,000 bytes', 100_000],
  ['unknown length', undefined],
])('a body of %s counts as several requests until its operation ends', (_what, bodyBytes) => {
  const { admission, enter } = createAdmission(20);
  const [ana, eva] = [accepted('ana'), accepted('eva')];
  const large = responseTo(bodyBytes);
  const { operation } = enter('1', ana, 10, large);
  expect([enter('2', ana, 10, large).outcome, enter('3', eva, 10, small).outcome]).toMatchObject([
    { code: 'OVERLOADED' },
    bodyBytes === undefined ? { code: 'OVERLOADED' } : 'started',
  ]);
  admission.leave(operation, large);
  expect(enter('4', ana, 10, large).outcome).toBe('started');
});

test('only a light operation waits for a heavy slot before it reads more pages', async () => {
  const { admission, enter } = createAdmission();
  const ana = accepted('ana');
  const { operation: heavy } = enter('heavy', ana, 4_000);
  await nextTurn();
  const { operation: light } = enter('light', ana, 10);
  expect(admission.pagesSlotFor(heavy)).toBeUndefined();
  const pages = admission.pagesSlotFor(light);
  let hasSlot = false;
  const taken = pages?.acquire(new CancelSource())?.then(() => {
    hasSlot = true;
  });
  await nextTurn();
  expect(hasSlot).toBe(false);
  admission.leave(heavy, small);
  await taken;
  // The operation has its slot for all its pages.
  expect([hasSlot, pages?.acquire(new CancelSource())]).toEqual([true, undefined]);
  expect(enter('next', ana, 4_000).outcome).toBe('waiting');
});

test('an aborted operation no longer waits for a heavy slot', async () => {
  const { admission, started, enter } = createAdmission();
  const ana = accepted('ana');
  const { operation: heavy } = enter('heavy', ana, 4_000);
  await nextTurn();
  const pages = admission.pagesSlotFor(enter('light', ana, 10).operation);
  const signal = new CancelSource();
  const taken = pages?.acquire(signal);
  enter('next', ana, 4_000);
  signal.abort(new Error('the client has gone'));
  await taken;
  pages?.release();
  admission.leave(heavy, small);
  await nextTurn();
  expect(started).toEqual(['heavy', 'light', 'next']);
});
