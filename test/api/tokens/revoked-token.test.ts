import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { CreateOrderDocument, type CreateOrderMutation } from '../../documents.generated.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { startService, until } from '../../fixtures/rest-service.ts';
import { startWorkers } from '../../fixtures/workers-process.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

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

  test('is not returned after another process gets a 401', async () => {
    const sandbox = await startSandbox({ now: startOfTime });
    const takers: ((tenantId: string) => void)[] = [];
    const start = () =>
      startWaybill(
        {},
        {
          sandbox,
          keyStore: memoryStore,
          tokenRejections: {
            publish: (tenantId) => takers.forEach((take) => void take(tenantId)),
            subscribe: (take) => void takers.push(take),
          },
        },
      );
    await using one = await start();
    await using other = await start();
    const first = await one.ask(CreateOrderDocument, { input });
    expect(first.calls).toEqual([organizationCall, 'POST /v1/orders']);
    const known = await other.ask(CreateOrderDocument, { input });
    expect([known.data, known.calls]).toEqual([first.data, [organizationCall, readOf(first)]]);
    sandbox.faults.add({ kind: 'status', status: 401 });
    await one.ask('mutation { updateOrder(input: { id: "ca2490", notes: "new" }) { __typename } }');
    const refused = await other.ask(CreateOrderDocument, { input });
    expect(refused).toMatchObject(unauthenticated('createOrder'));
    expect(refused.calls).toEqual([organizationCall]);
    await sandbox.close();
  });

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

test('after one worker gets a 401, no worker returns cached data to the rejected token', {
  timeout: 60_000,
}, async () => {
  let isRefused = false;
  await using service = await startService((_request, response) => {
    const body = { origins: [{ name: 'origins/a' }], name: 'organization/a' };
    response.writeHead(isRefused ? 401 : 200).end(JSON.stringify(body));
  });
  const server = startWorkers({ UPSTREAM_URL: service.url.href, ...kept });
  const { graphql } = await server.listening();
  await server.workers();
  const ask = async (query: string) => {
    const response = await fetch(graphql, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer one-token',
        // Each request on a connection of its own, so that the workers are asked in turn.
        connection: 'close',
      },
      body: JSON.stringify({ query }),
    });
    const { data } = await response.json();
    return data;
  };
  const keptOrigins = { origins: { nodes: [{ id: 'origins/a' }] } };
  for (const _worker of [1, 2, 3, 4]) expect(await ask(origins)).toEqual(keptOrigins);
  expect(service.requests.length).toBe(2);
  isRefused = true;
  expect(await ask('{ organization { id } }')).toEqual({ organization: null });
  // The other worker is told of it by the primary process.
  await expect.poll(() => ask(origins)).toEqual({ origins: null });
  for (const _worker of [1, 2, 3, 4]) expect(await ask(origins)).toEqual({ origins: null });
  server.signal('SIGTERM');
  expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
});
