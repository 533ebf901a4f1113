import { describe, expect, test } from 'vitest';
import { CreateOrderDocument, type CreateOrderMutation } from '../../documents.generated.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

// What is kept for a token is forgotten as soon as REST does not take the token any more.

const origins = '{ origins { nodes { id } } }';
const kept = { REFERENCE_DATA_MS: '60000' };
const refuse = ({ sandbox }: Waybill) => sandbox.faults.add({ kind: 'status', status: 401 });

/** A server that has kept the origins of the first merchant. */
async function startKeeping(environment: Record<string, string> = kept) {
  const waybill = await startWaybill(environment);
  expect((await waybill.ask(origins)).calls).toEqual(['GET /v1/origins?pageSize=20']);
  expect((await waybill.ask(origins)).calls).toEqual([]);
  return waybill;
}

/** The call that reads the order of an answer. */
function readOf({ data }: { data: CreateOrderMutation }): string {
  if (data.createOrder?.__typename === 'CreateOrderSuccess') return `GET /v1/${data.createOrder.order.id}`;
  throw new Error(JSON.stringify(data));
}

const unauthenticated = (field: string) => ({
  data: { [field]: null },
  errors: [{ path: [field], extensions: { code: 'UNAUTHENTICATED' } }],
});

describe('a token that the REST service rejects with 401', () => {
  test.each<[string, (waybill: Waybill) => Promise<unknown>]>([
    ['read', ({ ask }) => ask('{ organization { id } }')],
    ['list', ({ ask }) => ask('{ orders(first: 1) { nodes { id } } }')],
    [
      'write',
      ({ ask }) => ask('mutation { updateOrder(input: { id: "ca2490", notes: "new" }) { __typename } }'),
    ],
    [
      'label',
      ({ fetch, sandbox }) =>
        fetch('/labels/ca2036.pdf', { headers: { authorization: `Bearer ${sandbox.tokens.first}` } }),
    ],
  ])('gets no cached data after a 401 for a %s', async (_what, meet) => {
    await using waybill = await startKeeping();
    const heal = refuse(waybill);
    await meet(waybill);
    const { data, errors, calls } = await waybill.ask(origins);
    expect({ data, errors }).toMatchObject(unauthenticated('origins'));
    expect(calls).toEqual(['GET /v1/origins?pageSize=20']);
    heal();
    expect((await waybill.ask(origins)).calls).toEqual(['GET /v1/origins?pageSize=20']);
    expect((await waybill.ask(origins)).calls).toEqual([]);
  });

  test('gets no cached copy of a response that was pending at the 401', async () => {
    await using waybill = await startWaybill(kept);
    waybill.sandbox.faults.add({ kind: 'delay', delayMs: 150, path: '/v1/origins', times: 1 });
    const slow = waybill.ask(origins);
    await until(() => waybill.sandbox.requests.lines().length === 1);
    const heal = waybill.sandbox.faults.add({ kind: 'status', status: 401, path: '/v1/organizations/mine' });
    expect(await waybill.ask('{ organization { id } }')).toMatchObject(unauthenticated('organization'));
    expect((await slow).errors).toBeUndefined();
    heal();
    expect((await waybill.ask(origins)).calls).toEqual(['GET /v1/origins?pageSize=20']);
  });

  test('does not clear the cached data of other tokens', async () => {
    await using waybill = await startKeeping();
    const { second } = waybill.sandbox.tokens;
    await waybill.ask(origins, {}, second);
    const heal = refuse(waybill);
    await waybill.ask('{ organization { id } }');
    heal();
    expect((await waybill.ask(origins, {}, second)).calls).toEqual([]);
  });

  test('gets a stored result only after the REST service accepts the token again', async () => {
    await using waybill = await startWaybill();
    const input = { ...order, idempotencyKey: 'revoked' };
    const first = await waybill.ask(CreateOrderDocument, { input });
    expect(first.calls).toEqual([organizationCall, 'POST /v1/orders']);
    const heal = refuse(waybill);
    await waybill.ask('{ orders(first: 1) { nodes { id } } }');
    const refused = await waybill.ask(CreateOrderDocument, { input });
    expect(refused).toMatchObject(unauthenticated('createOrder'));
    expect(refused.calls).toEqual([organizationCall]);
    heal();
    const again = await waybill.ask(CreateOrderDocument, { input });
    expect([again.data, again.calls]).toEqual([first.data, [organizationCall, readOf(first)]]);
    expect((await waybill.ask(CreateOrderDocument, { input })).calls).toEqual([readOf(first)]);
  });
});

describe('the stored result of an idempotency key', () => {
  const input = { ...order, idempotencyKey: 'revoked' };

  test('is not returned after a 401 even if an older response arrives later', async () => {
    await using waybill = await startWaybill();
    await waybill.ask(CreateOrderDocument, { input });
    waybill.sandbox.faults.add({ kind: 'drip', bytes: 200, everyMs: 50, path: '/v1/orders', times: 1 });
    const slow = waybill.ask('{ orders(first: 1) { nodes { id } } }');
    await until(() => waybill.sandbox.requests.lines().length === 1);
    waybill.sandbox.faults.add({ kind: 'status', status: 401 });
    await waybill.ask('{ organization { id } }');
    expect((await slow).errors).toBeUndefined();
    expect(await waybill.ask(CreateOrderDocument, { input })).toMatchObject(unauthenticated('createOrder'));
  });
});
