import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pLimit from 'p-limit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Tenant, Tenants } from '../../src/tenancy/tenant.ts';
import { createCallContexts } from '../fixtures/call-contexts.ts';
import { answerJson, startRestClient, until } from '../fixtures/rest-service.ts';

test('a token maps to exactly one tenant', () => {
  const tenants = new Tenants();
  expect(tenants.of('ana')).toBe(tenants.of('ana'));
  expect(tenants.of('ana')).not.toBe(tenants.of('eva'));
  expect(tenants.of('ana').id).not.toBe(tenants.of('eva').id);
});

test('a tenant reveals nothing about its token', () => {
  const one = new Tenants().of('ana');
  const other = new Tenants().of('ana');
  expect(one).toEqual({ id: expect.stringMatching(/^[\w-]{43}$/), writes: 0 });
  expect(other.id).not.toBe(one.id);
});

test('a tenant with a running operation is kept even if there are too many tenants', () => {
  const tenants = new Tenants({ maxTenants: 2 });
  const ana = tenants.of('ana');
  for (const bearer of ['eva', 'ida', 'una']) tenants.of(bearer);
  expect(tenants.of('ana')).toBe(ana);
});

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

test('the least recently used tenants are evicted if there are too many', async () => {
  const collectGarbage = garbageCollector();
  const tenants = new Tenants({ maxTenants: 2 });
  const seen: Record<string, WeakRef<Tenant>> = {};
  for (const bearer of ['ana', 'eva', 'ida']) {
    const tenant = tenants.of(bearer);
    tenants.accept(tenant);
    seen[bearer] = new WeakRef(tenant);
    tenants.of('ana');
  }
  const isHeld = (bearer: string) => seen[bearer]?.deref() !== undefined;
  // A WeakRef holds what it was made for until the present job has ended.
  await until(() => {
    collectGarbage();
    return !isHeld('eva');
  });
  expect({ ana: isHeld('ana'), ida: isHeld('ida') }).toEqual({ ana: true, ida: true });
  // A new tenant object: the old one was collected.
  expect(tenants.of('eva').writes).toBe(0);
});

describe('a token', () => {
  /** A service that answers each token with the status that it names, and what is asked of it. */
  async function startNaming() {
    const rest = await startRestClient((request, response, body) => {
      const status = Number(request.headers.authorization?.split('-')[1]);
      return answerJson({ name: 'orders/7' }, status)(request, response, body);
    });
    const callContexts = createCallContexts();
    /** Asks in an operation of its own, and leaves nothing of it behind. */
    async function ask(token: string): Promise<WeakRef<Tenant>> {
      const callContext = callContexts.of(token, new AbortController().signal);
      await rest.api.getOrder('7', callContext).catch(() => {});
      return new WeakRef(callContext.tenant);
    }
    return { rest, ask };
  }

  test('is remembered only after a 2xx response', async () => {
    const collectGarbage = garbageCollector();
    const { rest, ask } = await startNaming();
    await using _rest = rest;
    const known = await ask('ana-200');
    const others: WeakRef<Tenant>[] = [];
    for (const status of [401, 403, 404, 407, 429, 500, 503]) others.push(await ask(`eva-${status}`));
    await until(() => {
      collectGarbage();
      return others.every((other) => other.deref() === undefined);
    });
    expect(known.deref()).toBe((await ask('ana-200')).deref());
  });

  test('is remembered even after many unknown tokens', async () => {
    const collectGarbage = garbageCollector();
    const { rest, ask } = await startNaming();
    await using _rest = rest;
    const known = await ask('ana-200');
    const junk = await pLimit(50).map(Array.from({ length: 5_000 }), (_, index) => ask(`junk${index}-401`));
    await until(() => {
      collectGarbage();
      return junk.every((other) => other.deref() === undefined);
    });
    expect(known.deref()?.writes).toBe(0);
  });
});

test('an owner has a connection only while its token is not accepted', () => {
  const tenants = new Tenants();
  const tenant = tenants.of('a');
  const connection = {};
  const owner = () => tenants.owner(tenant, connection);
  expect(owner()).toEqual({ token: tenant, connection });
  tenants.accept(tenant);
  expect(owner()).toEqual({ token: tenant, connection: undefined });
  tenants.reject(tenant.id);
  expect(owner()).toEqual({ token: tenant, connection });
});

test('an accepted token is remembered even if its tenant was evicted', () => {
  const tenants = new Tenants({ maxTenants: 2 });
  const first = tenants.of('first');
  const isAccepted = () => tenants.accepted('first') !== undefined;
  tenants.accept(first);
  for (let index = 0; index < 1_000; index += 1) tenants.accept(tenants.of(`token ${index}`));
  expect(isAccepted()).toBe(true);
  // Two generations of 50,000 ids.
  for (let index = 0; index < 110_000; index += 1) tenants.accept(tenants.of(`later ${index}`));
  expect(isAccepted()).toBe(false);
});

test.each([
  ['an hour', 3_599_999, true],
  ['two hours', 7_200_000, false],
])('an accepted token counts as accepted after %s without a call: %3$s', (_time, ms, isAccepted) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const tenants = new Tenants();
  tenants.accept(tenants.of('ana'));
  vi.advanceTimersByTime(ms);
  expect(tenants.accepted('ana') !== undefined).toBe(isAccepted);
  // A look does not make the token newer.
  vi.advanceTimersByTime(3_600_001);
  tenants.accepted('ana');
  vi.advanceTimersByTime(3_600_001);
  expect(tenants.accepted('ana')).toBeUndefined();
});
