import { afterAll, describe, expect, test } from 'vitest';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { inputFor, literal, takesKey } from '../../fixtures/mutation-inputs.ts';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

// A server that knows no merchant yet: no test sends a write whose merchant is found.
const waybill = await startWaybill();
afterAll(() => waybill[Symbol.asyncDispose]());

const mutationOf = (name: string, fields: object) =>
  `mutation { ${name}(input: ${literal({ ...inputFor(name), ...fields })}) { __typename } }`;

describe('an invalid input with an idempotency key', () => {
  test.each([
    ['createOrder', { recipient: { ...Object(inputFor('createOrder').recipient), location: '..' } }],
    ['createQuote', { origin: '..' }],
    ['createShipment', { quote: '..' }],
    ['sendMessage', { conversation: '..' }],
    ['sendMessageToPhone', { channel: '..' }],
    ['shipOrder', { order: '..' }],
  ])('costs no call, not even for the organization: %s', async (mutation, fields) => {
    expect(takesKey(mutation)).toBe(true);
    const { data, calls } = await waybill.ask(mutationOf(mutation, { ...fields, idempotencyKey: 'a' }));
    expect(data).toEqual({ [mutation]: { __typename: 'InvalidInput' } });
    expect(calls).toEqual([]);
  });
});

describe('a token whose organization cannot be read', () => {
  const path = '/v1/organizations/mine';

  test('cannot use shipOrder, even without an idempotency key', async () => {
    const heal = waybill.sandbox.faults.add({ path, kind: 'status', status: 503 });
    const { data, errors, calls } = await waybill.ask(mutationOf('shipOrder', { order: 'ca2496' }));
    heal();
    expect([data, calls]).toEqual([{ shipOrder: null }, [organizationCall]]);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }]);
  });

  test('gets an error without any text of the REST response', async () => {
    const body = { message: 'canary of REST' };
    const heal = waybill.sandbox.faults.add({ path, kind: 'status', status: 500, body });
    const { errors } = await waybill.ask(mutationOf('createOrder', { idempotencyKey: 'a' }));
    heal();
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(
          /^The organization of this access token cannot be read: .*returned 500\./,
        ),
      },
    ]);
    expect(JSON.stringify(errors)).not.toContain('canary');
  });

  test('cannot send keyed writes while the circuit breaker of organization calls is open', async () => {
    await using failing = await startApp(answerJson({}, 503));
    const write = mutationOf('createOrder', { idempotencyKey: 'a' });
    for (let time = 0; time < 10; time += 1) {
      for (const bearer of ['ana', 'eva']) await failing.ask(write, bearer);
    }
    expect((await failing.ask(write, 'ida')).errors).toMatchObject([
      { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    ]);
    expect(failing.calls()).toEqual(Array(20).fill(organizationCall));
  });
});
