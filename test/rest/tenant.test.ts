import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createTenants, type Tenant } from '../../src/rest/tenant.ts';
import { until } from './service.ts';

test('a token is one tenant, and another token another', () => {
  const tenants = createTenants();
  expect(tenants.of('ana')).toBe(tenants.of('ana'));
  expect(tenants.of('ana')).not.toBe(tenants.of('eva'));
  expect(tenants.of('ana').id).not.toBe(tenants.of('eva').id);
});

test('a tenant holds nothing by which its token could be told', () => {
  const one = createTenants().of('ana');
  const other = createTenants().of('ana');
  expect(one).toEqual({ id: expect.stringMatching(/^[\w-]{43}$/), writes: 0 });
  expect(other.id).not.toBe(one.id);
});

test('a tenant with an operation under way stays the same, however many came since', () => {
  const tenants = createTenants({ maxTenants: 2 });
  const ana = tenants.of('ana');
  for (const bearer of ['eva', 'ida', 'una']) tenants.of(bearer);
  expect(tenants.of('ana')).toBe(ana);
});

test('beyond the most that are remembered, those that have not been there for longest are forgotten', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const tenants = createTenants({ maxTenants: 2 });
  const seen: Record<string, WeakRef<Tenant>> = {};
  for (const bearer of ['ana', 'eva', 'ana', 'ida']) seen[bearer] = new WeakRef(tenants.of(bearer));
  const isHeld = (bearer: string) => seen[bearer]?.deref() !== undefined;
  // A WeakRef holds what it was made for until the present job has ended.
  await until(() => {
    collectGarbage();
    return !isHeld('eva');
  });
  expect({ ana: isHeld('ana'), ida: isHeld('ida') }).toEqual({ ana: true, ida: true });
  // Anew, as nobody could have kept anything by the one that went.
  expect(tenants.of('eva').writes).toBe(0);
});
