import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyedResult, keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { type Answer, answerJson } from '../../fixtures/rest-service.ts';
import { shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// The statuses of gateways and content networks, as clients see them.

const timeouts = [408, 460, 499, 504, 522, 524, 598];
const unavailable = [502, 503, 520, 521, 523, 525, 526, 527, 530];
const ofGateways = [...timeouts, ...unavailable];

describe('a retry of a write that got a gateway status', () => {
  let waybill: Waybill;
  beforeAll(async () => {
    // A retry has less time than REST may take for the lost write.
    waybill = await startWaybill({ OPERATION_TIMEOUT_MS: '5000' }, { quirks: { shipsAgain: true } });
    await learnMerchants(waybill, waybill.sandbox.tokens.first);
  });
  afterAll(() => waybill[Symbol.asyncDispose]());
  const run = (name: string, input: object) =>
    waybill.ask<KeyedResult, unknown>(keyedMutation(name).document, { input });
  const writesOf = (calls: string[]) => calls.filter((call) => !call.startsWith('GET '));

  test.each(ofGateways)('sends no second POST /v1/shipments after %i', async (status) => {
    const path = '/v1/shipments';
    const input = await orderToShip(waybill);
    waybill.sandbox.faults.add({ kind: 'status', status, method: 'POST', path, times: 1 });
    const first = await run('shipOrder', { ...input, idempotencyKey: `lost ${status}` });
    expect(first.errors).toMatchObject([{ extensions: { retryable: false, upstreamStatus: status } }]);
    expect(first.calls.slice(2)).toEqual(['POST /v1/quotes', `POST ${path}`]);
    for (const idempotencyKey of [`lost ${status}`, `another ${status}`, null]) {
      const { data, calls } = await run('shipOrder', { ...input, idempotencyKey });
      expect([data.result.__typename, writesOf(calls)]).toEqual(['OutcomeUnknown', []]);
    }
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual({});
  });

  test.each(ofGateways)('sends no second POST /v1/orders after %i', async (status) => {
    const path = '/v1/orders';
    const input = { ...order, referenceId: `lost ${status}`, idempotencyKey: `lost ${status}` };
    waybill.sandbox.faults.add({ kind: 'status', status, method: 'POST', path, times: 1 });
    const first = await run('createOrder', input);
    expect(first.errors).toMatchObject([{ extensions: { retryable: false, upstreamStatus: status } }]);
    expect(first.calls).toEqual([`POST ${path}`]);
    const again = await run('createOrder', input);
    expect([again.data.result.__typename, writesOf(again.calls)]).toEqual(['OutcomeUnknown', []]);
  });

  test.each(ofGateways)('sends no second message after %i', async (status) => {
    const { path, newInput } = keyedMutation('sendMessage');
    const input = { ...(await newInput(waybill)), idempotencyKey: `lost ${status}` };
    waybill.sandbox.faults.add({ kind: 'status', status, method: 'POST', path, times: 1 });
    const first = await run('sendMessage', input);
    expect(first.errors).toMatchObject([{ extensions: { retryable: false, upstreamStatus: status } }]);
    expect(first.calls).toEqual([`POST ${path}`]);
    const again = await run('sendMessage', input);
    expect([again.data.result.__typename, again.calls]).toEqual(['OutcomeUnknown', []]);
  });

  test.each([421, 425, 429])('sends the message if the first response was a refusal: %i', async (status) => {
    const { path, newInput } = keyedMutation('sendMessage');
    const input = { ...(await newInput(waybill)), idempotencyKey: `refused ${status}` };
    waybill.sandbox.faults.add({ kind: 'status', status, method: 'POST', path, times: 1 });
    const first = await run('sendMessage', input);
    expect(first.errors).toMatchObject([{ extensions: { upstreamStatus: status } }]);
    expect(first.calls).toEqual([`POST ${path}`]);
    const again = await run('sendMessage', input);
    expect([again.data.result.__typename, again.calls]).toEqual(['SendMessageSuccess', [`POST ${path}`]]);
  });
});

const query = '{ order(id: "7") { fulfiller } }';
const call = 'GET /v1/orders/7';
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };

/** The given status with a text of the gateway, for the first `times` requests, and then the order. */
function failing(status: number, times: number): Answer {
  let failures = 0;
  return (...exchange) => {
    failures += 1;
    const isFailure = failures <= times;
    const answer = isFailure
      ? answerJson({ message: 'canary' }, status)
      : answerJson({ name: 'orders/7', fulfiller: 'OPERATOR' });
    return answer(...exchange);
  };
}

describe('a read that gets a gateway status', () => {
  test.each(ofGateways)('is retried after %i', async (status) => {
    await using waybill = await startApp(failing(status, 2), { UPSTREAM_RETRIES: '2' });
    expect([await waybill.ask(query), waybill.calls()]).toEqual([whole, [call, call, call]]);
  });

  test.each(ofGateways)(
    'is retryable for the client after %i, and hides the text of the gateway',
    async (status) => {
      await using waybill = await startApp(failing(status, 1));
      const code = timeouts.includes(status) ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE';
      const message = `${call} returned ${status}`;
      expect(await waybill.ask(query)).toEqual({
        data: { order: null },
        errors: [{ message, path: 'order', code, retryable: true, upstreamStatus: status }],
      });
      expect([await waybill.ask(query), waybill.calls()]).toEqual([whole, [call, call]]);
    },
  );

  test.each([408, 499, 503, 520, 524, 530])(
    'opens the circuit after twenty failures with %i',
    async (status) => {
      await using waybill = await startApp(failing(status, 20));
      for (let time = 0; time < 10; time += 1) {
        for (const bearer of ['ana', 'eva']) await waybill.ask(query, bearer);
      }
      const { errors } = await waybill.ask(query, 'ida');
      expect(errors).toMatchObject([{ code: 'UPSTREAM_CIRCUIT_OPEN', retryable: true }]);
      expect(waybill.calls()).toEqual(Array.from({ length: 20 }, () => call));
    },
  );
});
