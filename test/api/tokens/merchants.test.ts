import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { CreateOrderDocument } from '../../documents.generated.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { order, post } from '../../fixtures/order-to-create.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

// The merchant of an access token is its organization, which the server asks for once per token.

const path = '/v1/organizations/mine';
const fail = ({ sandbox }: Waybill, fault: Fault) => sandbox.faults.add({ path, ...fault });
const create = ({ ask }: Waybill, bearer?: string, idempotencyKey: string | null = 'key') =>
  ask(CreateOrderDocument, { input: { ...order, idempotencyKey } }, bearer);

/** The posts of both tokens of the first merchant with one key: one if they are one merchant, else two. */
async function postsOfBoth(waybill: Waybill): Promise<number> {
  const { first, firstRefreshed } = waybill.sandbox.tokens;
  const calls: string[] = [];
  for (const token of [first, firstRefreshed]) calls.push(...(await create(waybill, token)).calls);
  return calls.filter((call) => call === post).length;
}

describe('the organization of a token', () => {
  test('is read once', async () => {
    await using waybill = await startWaybill();
    const { firstRefreshed } = waybill.sandbox.tokens;
    expect((await create(waybill)).calls).toEqual([organizationCall, post]);
    expect((await create(waybill, undefined, 'other')).calls).toEqual([post]);
    expect((await create(waybill, firstRefreshed, 'third')).calls).toEqual([organizationCall, post]);
  });

  test('is read once for concurrent requests', async () => {
    await using waybill = await startWaybill();
    fail(waybill, { kind: 'delay', delayMs: 50, times: 1 });
    await Promise.all(['a', 'b', 'c'].map((key) => create(waybill, undefined, key)));
    expect(waybill.sandbox.requests.lines().sort()).toEqual([organizationCall, post, post, post]);
  });

  test('is not read for a write without an idempotency key', async () => {
    await using waybill = await startWaybill();
    expect((await create(waybill, undefined, null)).calls).toEqual([post]);
  });

  test.each(['{ orders(first: 1) { nodes { id } } }', '{ order(id: "ca2481") { id } }'])(
    'is not read for the query %s',
    async (query) => {
      await using waybill = await startWaybill();
      expect((await waybill.ask(query)).calls).not.toContain(organizationCall);
    },
  );

  test('is read again after a 401', async () => {
    await using waybill = await startWaybill();
    await create(waybill);
    waybill.sandbox.faults.add({ kind: 'status', status: 401, path: '/v1/orders/ca2481', times: 1 });
    await waybill.ask('{ order(id: "ca2481") { id } }');
    expect((await create(waybill, undefined, 'other')).calls).toEqual([organizationCall, post]);
  });
});

describe('a token', () => {
  test.each<[string, Fault]>([
    ['returns 403 for the organization', { kind: 'status', status: 403 }],
    ['returns 404 for the organization', { kind: 'status', status: 404 }],
    [
      'returns the name "organization/mine"',
      { kind: 'change', change: () => ({ name: 'organization/mine' }) },
    ],
    ['returns a name in an unknown form', { kind: 'change', change: () => ({ name: 'merchants/1' }) }],
  ])('counts as its own merchant if the REST service %s', async (_what, fault) => {
    await using waybill = await startWaybill();
    fail(waybill, fault);
    expect(await postsOfBoth(waybill)).toBe(2);
    // The key still holds for the same token.
    expect((await create(waybill)).calls).not.toContain(post);
  });
});

describe('a keyed write', () => {
  const refused = {
    data: { createOrder: null },
    errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }],
    calls: [organizationCall],
  };

  test.each<[string, Fault]>([
    ['500', { kind: 'status', status: 500 }],
    ['503', { kind: 'status', status: 503 }],
    ['a connection reset', { kind: 'reset' }],
    ['truncated JSON', { kind: 'cut-json' }],
    ['a missing name', { kind: 'change', change: () => ({}) }],
  ])('is rejected if reading the organization fails with %s', async (_what, fault) => {
    await using waybill = await startWaybill();
    const heal = fail(waybill, fault);
    expect(await create(waybill)).toMatchObject(refused);
    heal();
    expect((await create(waybill)).calls).toEqual([organizationCall, post]);
  });

  test('is rejected if the organization call returns 404 after another token succeeded', async () => {
    await using waybill = await startWaybill();
    const { firstRefreshed, second } = waybill.sandbox.tokens;
    await create(waybill);
    const heal = fail(waybill, { kind: 'status', status: 404 });
    for (const token of [firstRefreshed, second]) expect(await create(waybill, token)).toMatchObject(refused);
    heal();
    expect((await create(waybill, second)).calls).toEqual([organizationCall, post]);
  });

  test('is rejected as UNAUTHENTICATED if the organization call returns 401', async () => {
    await using waybill = await startWaybill();
    fail(waybill, { kind: 'status', status: 401 });
    expect(await create(waybill)).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }],
      calls: [organizationCall],
    });
  });
});
