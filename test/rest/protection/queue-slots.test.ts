import { describe, expect, test } from 'vitest';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import {
  answerAsPromised,
  answerJson,
  errorOf,
  type HoldingRestClient,
  startHolding,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';

const { signal } = new AbortController();
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

describe('a read that another operation makes', () => {
  /** Waits for a held response and sends it, with the record that was asked for. */
  async function giveNext({ held, give, service }: HoldingRestClient) {
    await until(() => held.length > 0);
    const line = service.lines().at(-held.length);
    give({ name: line?.replace('GET /v1/', '') });
  }

  test('leaves its place in the queue to the next of its own operation, as soon as it is made', async () => {
    await using rest = await startHolding();
    const { api } = rest;
    const callContexts = createCallContexts({ callsPerOperation: 1, callsAtOnce: 1 });
    const [one, other] = [callContexts.of('ana', signal), callContexts.of('ana', signal)];
    const orders = [
      api.getOrder('1', callContexts.of('eva', signal)),
      api.getOrder('7', one),
      api.getOrder('7', other),
      api.getOrder('8', other),
    ];
    expect(callContexts.callsWaiting()).toBe(2);
    await giveNext(rest);
    await until(() => rest.held.length === 1);
    expect([callContexts.callsWaiting(), other.callLog.entries.length]).toEqual([1, 1]);
    const last = api.getOrder('9', callContexts.of('ida', signal));
    for (let time = 0; time < 3; time += 1) await giveNext(rest);
    expect(await Promise.all([...orders, last])).toEqual(
      ['1', '7', '7', '8', '9'].map((id) => ({ name: `orders/${id}` })),
    );
    expect(rest.service.lines()).toEqual(['1', '7', '8', '9'].map((id) => `GET /v1/orders/${id}`));
    expect(callContexts.callsWaiting()).toBe(0);
  });

  test('is answered where the queue is full and refuses all that would be made', async () => {
    await using rest = await startHolding();
    const { api } = rest;
    const callContexts = createCallContexts({ callsPerOperation: 1, callsAtOnce: 1, callsWaiting: 3 });
    const first = api.getOrder('7', callContexts.of('ana', signal));
    const others = ['1', '2'].map((id) => api.getOrder(id, callContexts.of(id, signal)));
    const late = callContexts.of('ana', signal);
    const joined = api.getOrder('7', late);
    const refused = await errorOf(api.getOrder('8', late));
    expect(refused.name).toBe('OverloadedError');
    for (let time = 0; time < 3; time += 1) await giveNext(rest);
    expect(await Promise.all([first, joined, ...others])).toEqual(
      ['7', '7', '1', '2'].map((id) => ({ name: `orders/${id}` })),
    );
    expect(rest.service.lines()).toEqual(['7', '1', '2'].map((id) => `GET /v1/orders/${id}`));
  });
});

test('a read that fails as another operation is about to make it leaves its turn to the next', async () => {
  await using rest = await startRestClient(answerAsPromised);
  const callContexts = createCallContexts({ callsPerOperation: 1, callsAtOnce: 1 });
  const broken: CallContext = {
    ...callContexts.of('ana', signal),
    onCallSent() {
      throw new Error('broken');
    },
  };
  const other = callContexts.of('ana', signal);
  const first = rest.api.getOrder('1', callContexts.of('eva', signal));
  const failed = [broken, other].map((callContext) => errorOf(rest.api.getOrder('7', callContext)));
  const next = rest.api.getOrder('8', other);
  expect((await Promise.all(failed)).map(({ message }) => message)).toEqual(['broken', 'broken']);
  expect(await Promise.all([first, next])).toEqual(['1', '8'].map((id) => ({ name: `orders/${id}` })));
  expect(rest.service.lines()).toEqual(['GET /v1/orders/1', 'GET /v1/orders/8']);
});

describe('calls that end as they begin, as those of their kind are no longer made,', () => {
  /** Its circuit opens with the second failure. */
  const startFailing = () =>
    startRestClient(
      (request, response, body) =>
        request.url === '/v1/shipments/7'
          ? answerJson({ name: 'shipments/7' })(request, response, body)
          : answerJson({}, 500)(request, response, body),
      // Thousands keep a busy machine from all else for a while.
      { circuitBreaker: { minCalls: 2 }, callTimeoutMs: 20_000 },
    );

  test.each([
    ['wait among all', 24_000],
    ['wait in their operations', 1],
  ])(
    'are all refused, and leave their place to the next, where thousands %s',
    async (_where, callsPerOperation) => {
      await using rest = await startFailing();
      const callContexts = createCallContexts({
        callsPerOperation,
        callsAtOnce: 1,
        callsWaiting: 12_000,
        readsPerOperation: 10_000,
      });
      const [ana, eva] = [callContexts.of('ana', signal), callContexts.of('eva', signal)];
      const refused = new Map<CallContext, number[]>([
        [ana, []],
        [eva, []],
      ]);
      const asked = numbers(3_000).flatMap((number) =>
        [ana, eva].map(async (callContext) => {
          const { name } = await errorOf(rest.api.getOrder(`${number}`, callContext));
          if (name === 'CircuitOpenError') refused.get(callContext)?.push(number);
        }),
      );
      const next = rest.api.getShipment('7', ana);
      await Promise.all(asked);
      const others = numbers(3_000).slice(1);
      expect([...refused.values()].map((ids) => ids.sort((a, b) => a - b))).toEqual([others, others]);
      expect(await next).toEqual({ name: 'shipments/7' });
      expect(rest.service.lines()).toEqual(['GET /v1/orders/0', 'GET /v1/orders/0', 'GET /v1/shipments/7']);
      expect(callContexts.callsWaiting()).toBe(0);
    },
  );

  test('take no turn before those who have waited for theirs', async () => {
    await using rest = await startFailing();
    const callContexts = createCallContexts({ callsPerOperation: 1, callsAtOnce: 1 });
    const refused: string[] = [];
    const asked = ['ana 1', 'eva 2', 'eva 3', 'eva 4', 'ida 5', 'ida 6', 'uma 7'];
    const operations = new Map(
      ['ana', 'eva', 'ida', 'uma'].map((who) => [who, callContexts.of(who, signal)] as const),
    );
    await Promise.all(
      asked.map(async (which) => {
        const [who = '', id = ''] = which.split(' ');
        const callContext = operations.get(who);
        if (callContext === undefined) throw new Error('one of those above');
        const { name } = await errorOf(rest.api.getOrder(id, callContext));
        if (name === 'CircuitOpenError') refused.push(which);
      }),
    );
    expect(refused).toEqual(['ida 5', 'uma 7', 'ida 6', 'eva 3', 'eva 4']);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1', 'GET /v1/orders/2']);
  });
});
