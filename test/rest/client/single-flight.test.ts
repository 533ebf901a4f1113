import { getEventListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CancelSource, neverAborted } from '../../../src/concurrency/cancellation.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { currentFieldPath } from '../../../src/rest/client/field-path.ts';
import {
  AbortedError,
  BudgetExceededError,
  DeadlineError,
  OverloadedError,
  StatusError,
} from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import {
  answerAsPromised,
  answerJson,
  errorOf,
  startHolding,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';

const seven = (notes: string) => ({ name: 'orders/7', notes });

describe('equal concurrent reads of one tenant', () => {
  test('are one call', async () => {
    await using rest = await startHolding();
    const first = rest.api.getOrder('7', rest.callContext());
    await until(() => rest.held.length === 1);
    const others = [1, 2, 3].map(() => rest.api.getOrder('orders/7', rest.callContext()));
    rest.give(seven('a'));
    expect(await Promise.all([first, ...others])).toEqual([seven('a'), seven('a'), seven('a'), seven('a')]);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7']);
  });

  test('are one call if the first waits in the queue of its operation: the others wait too', async () => {
    await using rest = await startHolding();
    const busy = rest.callContext(undefined, 1);
    const first = rest.api.getOrder('1', busy);
    const queued = ['7', '2'].map((id) => rest.api.getOrder(id, busy));
    await until(() => rest.held.length === 1);
    const small = rest.callContext();
    const joined = rest.api.getOrder('7', small);
    await pause(20);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1']);
    for (const order of [{ name: 'orders/1' }, seven('a'), { name: 'orders/2' }]) {
      await until(() => rest.held.length === 1);
      rest.give(order);
    }
    expect(await Promise.all([first, ...queued, joined])).toEqual([
      { name: 'orders/1' },
      seven('a'),
      { name: 'orders/2' },
      seven('a'),
    ]);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1', 'GET /v1/orders/7', 'GET /v1/orders/2']);
    const made = ({ callLog }: CallContext) =>
      callLog.entries.map(({ isShared, status }) => [isShared, status]);
    expect([made(busy), made(small)]).toEqual([
      [
        [false, 200],
        [false, 200],
        [false, 200],
      ],
      [[true, 200]],
    ]);
  });

  test('are one call if they are far apart in the queue of one operation', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = rest.callContext(undefined, 1);
    const ids = ['1', '2', '3', '1', '4', '1'];
    const orders = await Promise.all(ids.map((id) => rest.api.getOrder(id, callContext)));
    expect(orders).toEqual(ids.map((id) => ({ name: `orders/${id}` })));
    expect(rest.service.lines()).toEqual(['1', '2', '3', '4'].map((id) => `GET /v1/orders/${id}`));
  });

  test('are led by the next waiter if the first is aborted in its queue', async () => {
    await using rest = await startHolding();
    const client = new AbortController();
    const [gone, there] = [rest.callContext(client.signal, 1), rest.callContext(undefined, 1)];
    const busy = [rest.api.getOrder('1', gone), rest.api.getOrder('2', there)];
    await until(() => rest.held.length === 2);
    const waiting = [rest.api.getOrder('7', gone), rest.api.getOrder('7', there)];
    const ended = Promise.allSettled([...busy, ...waiting]);
    await pause(5);
    client.abort();
    const [, second] = rest.held.splice(0);
    second?.end(JSON.stringify({ name: 'orders/2' }));
    await until(() => rest.held.length === 1);
    rest.give(seven('a'));
    expect((await ended).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(rest.service.lines().slice(2)).toEqual(['GET /v1/orders/7']);
    expect(gone.callLog.entries).toHaveLength(1);
  });

  test('are shared only if their queries are equal', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const queries = [
      { pageSize: 1 },
      { pageSize: 2 },
      { pageSize: 1, search: 'a' },
      { pageSize: 1 },
      { pageSize: 1, pageToken: 'a' },
    ];
    await Promise.all(queries.map((query) => rest.api.listOrders(query, rest.callContext())));
    expect(rest.service.lines().sort()).toEqual([
      'GET /v1/orders?pageSize=1',
      'GET /v1/orders?pageSize=1&pageToken=a',
      'GET /v1/orders?pageSize=1&search=a',
      'GET /v1/orders?pageSize=2',
    ]);
  });

  test('share an error, which is not cached', async () => {
    let isBroken = true;
    await using rest = await startRestClient((request, response, body) =>
      (isBroken ? answerJson({ message: 'later' }, 503) : answerAsPromised)(request, response, body),
    );
    const errors = [1, 2].map(() => errorOf(rest.api.getOrder('7', rest.callContext())));
    for (const error of await Promise.all(errors)) expect(error).toBeInstanceOf(StatusError);
    isBroken = false;
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual({ name: 'orders/7' });
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'GET /v1/orders/7']);
  });

  test('share a deadline', async () => {
    await using rest = await startRestClient(() => {}, { callTimeoutMs: 60 });
    const errors = [1, 2].map(() => errorOf(rest.api.getOrder('7', rest.callContext())));
    for (const error of await Promise.all(errors)) expect(error).toBeInstanceOf(DeadlineError);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7']);
  });

  test('fail and release their slot if their call context throws on sending', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = rest.callContext(undefined, 1);
    const broken: CallContext = {
      ...callContext,
      onCallSent() {
        throw new Error('broken');
      },
    };
    const errors = ['7', '8'].map((id) => errorOf(rest.api.getOrder(id, broken)));
    const order = rest.api.getOrder('9', callContext);
    expect((await Promise.all(errors)).map(({ message }) => message)).toEqual(['broken', 'broken']);
    expect(await order).toEqual({ name: 'orders/9' });
    expect(rest.service.lines()).toEqual(['GET /v1/orders/9']);
  });

  test.each([
    [200, ['broken', { name: 'orders/7' }]],
    [404, ['broken', 'GET /v1/orders/7 answered 404']],
  ])(
    'with status %d release their slot if the call context of one throws on the response',
    async (status, outcomes) => {
      await using rest = await startRestClient((request, response, body) =>
        (request.url === '/v1/orders/7' ? answerJson({ name: 'orders/7' }, status) : answerAsPromised)(
          request,
          response,
          body,
        ),
      );
      const callContext = rest.callContext(undefined, 1);
      const broken: CallContext = {
        ...callContext,
        onCallFinished() {
          throw new Error('broken');
        },
      };
      const orders = [broken, rest.callContext()].map((each) =>
        rest.api.getOrder('7', each).catch(({ message }: Error) => message),
      );
      const next = rest.api.getOrder('9', callContext);
      expect([await Promise.all(orders), await next]).toEqual([outcomes, { name: 'orders/9' }]);
      expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'GET /v1/orders/9']);
    },
  );

  test('are sent again if repeated after the response', async () => {
    let times = 0;
    await using rest = await startRestClient((request, response, body) => {
      times += 1;
      return answerJson(seven(`${times}`))(request, response, body);
    });
    const again = [1, 2].map(async () => {
      await rest.api.getOrder('7', rest.callContext());
      return rest.api.getOrder('7', rest.callContext());
    });
    expect(await Promise.all(again)).toEqual([seven('2'), seven('2')]);
  });
});

describe('calls that are not shared', () => {
  test('are reads of two tenants', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 16 });
    const { signal } = new AbortController();
    const orders = ['ana', 'eva'].map((bearer) => rest.api.getOrder('7', callContexts.of(bearer, signal)));
    await until(() => rest.held.length === 2);
    for (const { headers } of rest.service.requests) rest.give(seven(headers.authorization ?? ''));
    const notes = (await Promise.all(orders)).map((order) => order.notes);
    expect(notes.sort()).toEqual(['Bearer ana', 'Bearer eva']);
  });

  test('are writes', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const message = { text: 'a' };
    await Promise.all([1, 2].map(() => rest.api.sendMessage('1', '17', message, rest.callContext())));
    const line = 'POST /v1/channels/1/conversations/17/messages';
    expect(rest.service.lines()).toEqual([line, line]);
  });

  test('are labels, because a stream has one reader', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const labels = await Promise.all([1, 2].map(() => rest.api.getLabel('7', rest.callContext())));
    for (const { body } of labels) body.resume();
    expect(rest.service.lines()).toEqual(['GET /v1/shipments/7/label', 'GET /v1/shipments/7/label']);
  });
});

describe('an aborted operation', () => {
  test('that was the first waiter leaves the call to the others', async () => {
    await using rest = await startHolding();
    const [one, other] = [new AbortController(), new AbortController()];
    const failure = errorOf(rest.api.getOrder('7', rest.callContext(one.signal)));
    const waited = rest.api.getOrder('7', rest.callContext(other.signal));
    await until(() => rest.held.length === 1);
    one.abort();
    const error = await failure;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.message).toBe('GET /v1/orders/7 was given up by its caller');
    rest.give(seven('a'));
    expect(await waited).toEqual(seven('a'));
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7']);
  });

  test('that was the second waiter does not end the call', async () => {
    await using rest = await startHolding();
    const other = new AbortController();
    const waited = rest.api.getOrder('7', rest.callContext());
    const failure = errorOf(rest.api.getOrder('7', rest.callContext(other.signal)));
    await until(() => rest.held.length === 1);
    other.abort();
    expect(await failure).toBeInstanceOf(AbortedError);
    rest.give(seven('a'));
    expect(await waited).toEqual(seven('a'));
  });

  test('that was the last waiter ends the call, and no later read joins the call', async () => {
    await using rest = await startHolding();
    const controllers = [new AbortController(), new AbortController()];
    const failures = controllers.map(({ signal }) =>
      errorOf(rest.api.getOrder('7', rest.callContext(signal))),
    );
    await until(() => rest.held.length === 1);
    let isClosed = false;
    rest.held.shift()?.once('close', () => {
      isClosed = true;
    });
    for (const controller of controllers) controller.abort();
    // Immediately, before the first call has ended.
    const second = rest.api.getOrder('7', rest.callContext());
    for (const error of await Promise.all(failures)) expect(error).toBeInstanceOf(AbortedError);
    await until(() => isClosed && rest.held.length === 1);
    // The end of the first call must not remove the second call from the shared requests.
    const joined = rest.api.getOrder('7', rest.callContext());
    rest.give(seven('a'));
    expect(await Promise.all([second, joined])).toEqual([seven('a'), seven('a')]);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'GET /v1/orders/7']);
  });

  test('neither sends nor logs its waiting calls', async () => {
    await using rest = await startHolding();
    const client = new AbortController();
    const busy = rest.callContext(client.signal, 1);
    const failures = ['1', '7'].map((id) => errorOf(rest.api.getOrder(id, busy)));
    await until(() => rest.held.length === 1);
    client.abort();
    for (const error of await Promise.all(failures)) expect(error).toBeInstanceOf(AbortedError);
    await pause(20);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1']);
    expect(busy.callLog.entries).toHaveLength(1);
  });

  test('sends neither a read nor a write that waits for slots of other operations', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 16, callsAtOnce: 1 });
    const client = new AbortController();
    const order = rest.api.getOrder('1', callContexts.of('ana', new AbortController().signal));
    await until(() => rest.held.length === 1);
    const eva = callContexts.of('eva', client.signal);
    const failures = [
      errorOf(rest.api.getOrder('7', eva)),
      errorOf(rest.api.sendMessage('1', '17', { text: 'a' }, eva)),
    ];
    await pause(5);
    client.abort();
    rest.give({ name: 'orders/1' });
    await order;
    for (const error of await Promise.all(failures)) expect(error).toBeInstanceOf(AbortedError);
    await pause(20);
    expect([rest.service.lines(), eva.callLog.entries]).toEqual([['GET /v1/orders/1'], []]);
  });

  test('sends no later call', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = rest.callContext(AbortSignal.abort());
    expect(await errorOf(rest.api.getOrder('7', callContext))).toBeInstanceOf(AbortedError);
    expect([rest.service.lines(), callContext.callLog.entries]).toEqual([[], []]);
  });

  test('has no listener on its signal after the call', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const signals = [1, 2, 3].map(() => new AbortController().signal);
    await Promise.all(signals.map((signal) => rest.api.getOrder('7', rest.callContext(signal))));
    expect(signals.map((signal) => getEventListeners(signal, 'abort'))).toEqual([[], [], []]);
  });
});

describe('after a write', () => {
  const update = { order: { notes: 'b' }, updateMask: ['notes' as const] };

  test('a read does not join a request from before the end of the write', async () => {
    await using rest = await startHolding();
    const before = rest.api.getOrder('7', rest.callContext());
    await until(() => rest.held.length === 1);
    const [older] = rest.held.splice(0);
    const written = rest.api.updateOrder('7', update, rest.callContext());
    await until(() => rest.held.length === 1);
    rest.give(seven('b'));
    await written;
    const after = [1, 2].map(() => rest.api.getOrder('7', rest.callContext()));
    await until(() => rest.held.length === 1);
    older?.end(JSON.stringify(seven('a')));
    expect(await before).toEqual(seven('a'));
    rest.give(seven('b'));
    expect(await Promise.all(after)).toEqual([seven('b'), seven('b')]);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'PATCH /v1/orders/7', 'GET /v1/orders/7']);
  });

  test('a read does not join an earlier request even if the write failed', async () => {
    await using rest = await startHolding();
    const before = rest.api.getOrder('7', rest.callContext());
    await until(() => rest.held.length === 1);
    const [older] = rest.held.splice(0);
    const written = errorOf(rest.api.updateOrder('7', update, rest.callContext()));
    await until(() => rest.held.length === 1);
    rest.held.shift()?.destroy();
    expect((await written).name).toBe('OutcomeUnknownError');
    const after = rest.api.getOrder('7', rest.callContext());
    await until(() => rest.held.length === 1);
    older?.end(JSON.stringify(seven('a')));
    rest.give(seven('b'));
    expect(await Promise.all([before, after])).toEqual([seven('a'), seven('b')]);
  });

  test('of another tenant, reads still join earlier requests', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 16 });
    const first = rest.api.getOrder('7', rest.callContext());
    await until(() => rest.held.length === 1);
    const [order] = rest.held.splice(0);
    const other = callContexts.of('another', new AbortController().signal);
    const written = rest.api.updateOrder('7', update, other);
    await until(() => rest.held.length === 1);
    rest.give(seven('b'));
    await written;
    const second = rest.api.getOrder('7', rest.callContext());
    order?.end(JSON.stringify(seven('a')));
    expect(await Promise.all([first, second])).toEqual([seven('a'), seven('a')]);
  });
});

describe('the cost of a shared read', () => {
  const entry = {
    method: 'GET',
    route: '/v1/orders/{id}',
    status: 200,
    startMs: expect.any(Number),
    durationMs: expect.any(Number),
    bytes: 31,
    retries: 0,
    isShared: false,
    askedBy: [],
  };

  test('is in all call logs, but as a sent call only in the first', async () => {
    await using rest = await startHolding();
    const callContexts = [rest.callContext(), rest.callContext()];
    const orders = callContexts.map((callContext) => rest.api.getOrder('7', callContext));
    await until(() => rest.held.length === 1);
    rest.give(seven('a'));
    await Promise.all(orders);
    expect(callContexts.map(({ callLog }) => callLog.entries)).toEqual([
      [entry],
      [{ ...entry, isShared: true }],
    ]);
  });

  test('shows the field path of each operation, also for waiters of a queued call', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 16, callsAtOnce: 1 });
    const { signal } = new AbortController();
    const first = rest.api.getOrder('1', callContexts.of('eva', signal));
    await until(() => rest.held.length === 1);
    const operations = ['a', undefined, 'c'].map((field) => {
      const callContext = callContexts.of('ana', signal);
      const ask = () => rest.api.getOrder('7', callContext);
      return { callContext, answer: field === undefined ? ask() : currentFieldPath.run(field, ask) };
    });
    rest.give({ name: 'orders/1' });
    await until(() => rest.held.length === 1);
    rest.give(seven('a'));
    await Promise.all([first, ...operations.map(({ answer }) => answer)]);
    expect(
      operations.map(({ callContext }) =>
        callContext.callLog.entries.map(({ askedBy, isShared }) => [askedBy, isShared]),
      ),
    ).toEqual([[[['a'], false]], [[[], true]], [[['c'], true]]]);
  });

  test('has no status if the operation was aborted before the response', async () => {
    await using rest = await startHolding();
    const client = new AbortController();
    const [first, second] = [rest.callContext(), rest.callContext(client.signal)];
    const order = rest.api.getOrder('7', first);
    const failure = errorOf(rest.api.getOrder('7', second));
    await until(() => rest.held.length === 1);
    client.abort();
    await failure;
    rest.give(seven('a'));
    await order;
    expect(second.callLog.entries).toEqual([{ ...entry, status: undefined, bytes: 0, isShared: true }]);
  });

  test('uses only the read budget of the first, and an exceeded budget is not shared', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 16, readsPerOperation: 1 });
    const { signal } = new AbortController();
    const callContext = () => callContexts.of('ana', signal);
    const [spent, other, third]: CallContext[] = [callContext(), callContext(), callContext()];
    if (other === undefined || third === undefined || spent === undefined) throw new Error('three, as above');
    const firstRead = rest.api.getOrder('1', spent);
    const refused = errorOf(rest.api.getOrder('7', spent));
    const joined = [rest.api.getOrder('7', other), rest.api.getOrder('7', third)];
    const fourthRead = rest.api.getOrder('2', third);
    await until(() => rest.held.length === 3);
    for (const line of rest.service.lines()) rest.give({ name: line.replace('GET /v1/', '') });
    expect(await refused).toBeInstanceOf(BudgetExceededError);
    expect(await Promise.all([firstRead, ...joined, fourthRead])).toEqual(
      ['1', '7', '7', '2'].map((id) => ({ name: `orders/${id}` })),
    );
  });

  test('uses the budget of the next operation with budget if the first is aborted in its queue', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 2, callsAtOnce: 1, readsPerOperation: 1 });
    const { signal } = new AbortController();
    const client = new AbortController();
    const held = rest.api.getOrder('1', callContexts.of('eva', signal));
    const first = callContexts.of('ana', client.signal);
    const [spent, third] = [callContexts.of('ana', signal), callContexts.of('ana', signal)];
    const failure = errorOf(rest.api.getOrder('7', first));
    const other = rest.api.getOrder('2', spent);
    const refused = errorOf(rest.api.getOrder('7', spent));
    const answered = rest.api.getOrder('7', third);
    expect([first, spent, third].map((callContext) => callContext.readsLeft())).toEqual([0, 0, 1]);
    client.abort();
    expect(await failure).toBeInstanceOf(AbortedError);
    expect(await refused).toBeInstanceOf(BudgetExceededError);
    expect([first, spent, third].map((callContext) => callContext.readsLeft())).toEqual([1, 0, 0]);
    for (const id of ['1', '2', '7']) {
      await until(() => rest.held.length === 1);
      rest.give({ name: `orders/${id}` });
    }
    expect(await Promise.all([held, other, answered])).toEqual(
      ['1', '2', '7'].map((id) => ({ name: `orders/${id}` })),
    );
    expect(rest.service.lines()).toEqual(['1', '2', '7'].map((id) => `GET /v1/orders/${id}`));
    expect([first, spent, third].map(({ callLog }) => callLog.entries.length)).toEqual([0, 1, 1]);
  });

  test('uses no budget if the read is refused before sending', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsPerOperation: 8, callsAtOnce: 1, callsWaiting: 2 });
    const { signal } = new AbortController();
    const callContext = callContexts.of('ana', signal);
    const [sent, queued] = ['1', '2'].map((id) => rest.api.getOrder(id, callContexts.of('ana', signal)));
    expect((await errorOf(rest.api.getOrder('3', callContext))).name).toBe('OverloadedError');
    expect([callContext.readsLeft(), callContexts.callsWaiting()]).toEqual([250, 1]);
    for (const id of ['1', '2']) {
      await until(() => rest.held.length === 1);
      rest.give({ name: `orders/${id}` });
    }
    await Promise.all([sent, queued]);
  });
});

test('thousands of waiters that are refused one after the other as leader all fail', async () => {
  await using rest = await startHolding();
  const callContexts = createCallContexts({ callsPerOperation: 1, callsAtOnce: 1, callsWaiting: 3 });
  const gone = new CancelSource();
  const large = callContexts.of('a', gone);
  const [running, held] = ['1', '7'].map((id) => errorOf(rest.api.getOrder(id, large)));
  const waiting = ['b', 'c'].map((token) =>
    rest.api.getOrder('2', callContexts.of(token, new CancelSource())).catch(() => {}),
  );
  const joined = Array.from({ length: 3_000 }, () =>
    errorOf(rest.api.getOrder('7', callContexts.of('a', new CancelSource()))),
  );
  gone.abort(new Error('gone'));
  expect(await held).toBeInstanceOf(AbortedError);
  for (const error of await Promise.all(joined)) expect(error).toBeInstanceOf(OverloadedError);
  expect(await running).toBeInstanceOf(AbortedError);
  for (const id of ['2', '2']) {
    await until(() => rest.held.length === 1);
    rest.give({ name: `orders/${id}` });
  }
  await Promise.all(waiting);
});

test('a read is retried if any waiter has time, although the leader has none', async () => {
  let calls = 0;
  await using rest = await startRestClient(
    (request, response, body) => {
      calls += 1;
      const answer = calls === 1 ? answerJson({}, 503, { 'retry-after': '0' }) : answerJson(seven('a'));
      answer(request, response, body);
    },
    { retries: 1 },
  );
  const callContexts = createCallContexts({});
  const hurried = callContexts.of('a', new CancelSource(), { signal: neverAborted, remainingMs: () => 0 });
  const reads = [hurried, callContexts.of('a', new CancelSource())].map((callContext) =>
    rest.api.getOrder('7', callContext),
  );
  expect(await Promise.all(reads)).toEqual([seven('a'), seven('a')]);
  expect(calls).toBe(2);
});
