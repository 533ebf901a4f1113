import { describe, expect, test } from 'vitest';
import { Tenants } from '../../../src/tenancy/tenant.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { answerJson, errorOf, startHolding, startRestClient, until } from '../../fixtures/rest-service.ts';

const { signal } = new AbortController();
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Call contexts with one slot, and with tokens that REST has accepted. */
function createWithAccepted(...tokens: string[]) {
  const tenants = new Tenants();
  for (const token of tokens) tenants.accept(tenants.of(token));
  return createCallContexts({ callsAtOnce: 1, readsPerOperation: 10_000, tenants });
}

/** Reads `<token> <id>` of each entry, responds to one read at a time, and returns the order of the requests. */
async function orderOfReads(callContexts: ReturnType<typeof createCallContexts>, reads: string[]) {
  await using rest = await startHolding();
  const answers = reads.map((read) => {
    const [token = '', id = ''] = read.split(' ');
    return rest.api.getOrder(id, callContexts.of(token, signal));
  });
  for (const _ of reads) {
    await until(() => rest.held.length === 1);
    const line = rest.service.lines().at(-1);
    rest.give({ name: line?.replace('GET /v1/', '') });
  }
  await Promise.all(answers);
  return rest.service.lines().map((line) => line.replace('GET /v1/orders/', ''));
}

describe('calls that wait for a slot', () => {
  test('alternate between accepted tokens, and keep the sequence of calls of each token', async () => {
    const callContexts = createWithAccepted('ana', 'eva');
    const reads = ['ana 1', 'ana 2', 'ana 3', 'ana 4', 'eva 5', 'eva 6'];
    expect(await orderOfReads(callContexts, reads)).toEqual(['1', '2', '5', '3', '6', '4']);
  });

  test('count as calls of one token if the REST service has not accepted their tokens', async () => {
    const callContexts = createWithAccepted('ana');
    const reads = ['x 1', 'y 2', 'z 3', 'ana 4', 'ana 5'];
    expect(await orderOfReads(callContexts, reads)).toEqual(['1', '2', '4', '3', '5']);
  });

  test('are never rejected, however many wait', async () => {
    const callContexts = createWithAccepted('ana');
    const reads = numbers(1_200).map((number) => `ana ${number}`);
    expect(await orderOfReads(callContexts, reads)).toEqual(numbers(1_200).map(String));
    expect(callContexts.callsWaiting()).toBe(0);
  });
});

describe('waiting calls that the circuit breaker rejects', () => {
  /** The circuit of orders opens with the second failure. */
  const startFailing = () =>
    startRestClient(
      (request, response, body) =>
        request.url === '/v1/shipments/7'
          ? answerJson({ name: 'shipments/7' })(request, response, body)
          : answerJson({}, 500)(request, response, body),
      // Thousands keep a busy machine from all else for a while.
      { circuitBreaker: { minCalls: 2 }, callTimeoutMs: 20_000 },
    );

  test('leave the slot to the next call, even if thousands are rejected', async () => {
    await using rest = await startFailing();
    const callContexts = createWithAccepted('ana', 'eva');
    const [ana, eva] = ['ana', 'eva'].map((token) => callContexts.of(token, signal));
    if (ana === undefined || eva === undefined) throw new Error('two, as above');
    const asked = numbers(3_000).flatMap((number) =>
      [ana, eva].map(
        async (callContext) => (await errorOf(rest.api.getOrder(`${number}`, callContext))).name,
      ),
    );
    const next = rest.api.getShipment('7', ana);
    const refused = (await Promise.all(asked)).filter((name) => name === 'CircuitOpenError');
    expect(refused).toHaveLength(2 * 2_999);
    expect(await next).toEqual({ name: 'shipments/7' });
    expect(rest.service.lines()).toEqual(['GET /v1/orders/0', 'GET /v1/orders/0', 'GET /v1/shipments/7']);
    expect(callContexts.callsWaiting()).toBe(0);
  });

  test('are rejected in the round-robin order of their tokens', async () => {
    await using rest = await startFailing();
    const callContexts = createWithAccepted('ana', 'eva', 'ida', 'uma');
    const refused: string[] = [];
    const asked = ['ana 1', 'eva 2', 'eva 3', 'eva 4', 'ida 5', 'ida 6', 'uma 7'];
    await Promise.all(
      asked.map(async (which) => {
        const [token = '', id = ''] = which.split(' ');
        const { name } = await errorOf(rest.api.getOrder(id, callContexts.of(token, signal)));
        if (name === 'CircuitOpenError') refused.push(which);
      }),
    );
    expect(refused).toEqual(['ida 5', 'uma 7', 'eva 3', 'ida 6', 'eva 4']);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1', 'GET /v1/orders/2']);
  });
});
