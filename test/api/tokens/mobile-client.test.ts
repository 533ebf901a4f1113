import type { RequestListener, ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test, vi } from 'vitest';
import { codeBlockOf, readPage, sectionOf } from '../../fixtures/markdown.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill } from '../../harness.ts';

// The client of docs/errors.md and docs/api-reference.md, as a phone runs it.

interface Session {
  token(): string;
  refresh(): Promise<void>;
}

type ShipOrder = (input: object, session: Session) => Promise<string>;

const originInPage = 'http://127.0.0.1:4000';

/** Imports the function `shipOrder` of the two pages. It sends its requests to `origin`. */
async function importShipOrder(origin: string): Promise<ShipOrder> {
  const code = [
    codeBlockOf(sectionOf(readPage('docs/errors.md'), 'Retry'), 'ts'),
    codeBlockOf(sectionOf(readPage('docs/api-reference.md'), 'Writing'), 'ts'),
  ].join('\n');
  expect(code.split(originInPage)).toHaveLength(2);
  const script = stripTypeScriptTypes(code).replace(originInPage, origin);
  const { shipOrder } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  return shipOrder;
}

/** What happens to a request on the network: `true` if the server does not get it. */
type Network = (response: ServerResponse, requestNumber: number) => boolean;

/** A server, and the client of the pages with an access token of the first merchant and an order to ship. */
async function startClient(network: Network = () => false) {
  let requestCount = 0;
  const intercept =
    (app: RequestListener): RequestListener =>
    (request, response) => {
      requestCount += 1;
      if (!network(response, requestCount)) app(request, response);
    };
  const sandbox = await startSeededSandbox();
  const waybill = await startWaybill({}, { sandbox });
  const client = await startWaybill({}, { sandbox, intercept });
  const shipOrder = await importShipOrder(client.url.origin);
  const input = { ...(await orderToShip(waybill)), idempotencyKey: crypto.randomUUID() };
  let token = sandbox.tokens.first;
  const refresh = vi.fn(async () => {
    token = sandbox.issueToken(token);
  });
  sandbox.requests.clear();
  return {
    sandbox,
    refresh,
    ship: () => shipOrder(input, { token: () => token, refresh }),
    requestCount: () => requestCount,
    /** Each POST of a shipment that REST has accepted. */
    shipments: () =>
      sandbox.requests
        .entries()
        .filter(({ method, path, status }) => `${method} ${path} ${status}` === 'POST /v1/shipments 201'),
    /** The text for the user after the order is shipped, with the shipment that the order has now. */
    async shippedText() {
      const { data } = await waybill.ask<{ order: { shipment: { id: string } } }, object>(
        'query ($id: ID!) { order(id: $id) { shipment { id } } }',
        { id: input.order },
        sandbox.issueToken(token),
      );
      return `Shipped as ${data.order.shipment.id}.`;
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await waybill[Symbol.asyncDispose]();
      await sandbox.close();
    },
  };
}

/** Closes the connection in place of the end of the response. */
function loseAnswer(response: ServerResponse): void {
  Object.assign(response, { end: () => response.destroy() });
}

test('the example client ships once if the response is lost and the token expires', async () => {
  await using client = await startClient((response, requestNumber) => {
    if (requestNumber === 1) loseAnswer(response);
    if (requestNumber === 2) client.sandbox.endToken(client.sandbox.tokens.first);
    return false;
  });
  const text = await client.ship();
  expect(client.shipments()).toHaveLength(1);
  expect([client.requestCount(), client.refresh.mock.calls.length]).toEqual([3, 1]);
  expect(text).toBe(await client.shippedText());
});

test('the example client ships once if the token expires between quote and shipment', async () => {
  await using client = await startClient();
  const { faults, endToken, tokens } = client.sandbox;
  faults.add({
    kind: 'change',
    path: '/v1/quotes',
    times: 1,
    change(quote) {
      endToken(tokens.first);
      return quote;
    },
  });
  const text = await client.ship();
  expect(client.shipments()).toHaveLength(1);
  expect([client.requestCount(), client.refresh.mock.calls.length]).toEqual([2, 1]);
  expect(text).toBe(await client.shippedText());
});

test('the example client refreshes the token after a 401 whose body is not JSON', async () => {
  await using client = await startClient((response, requestNumber) => {
    if (requestNumber === 1) response.writeHead(401).end('<h1>Unauthorized</h1>');
    return requestNumber === 1;
  });
  const text = await client.ship();
  expect(client.shipments()).toHaveLength(1);
  expect(client.refresh).toHaveBeenCalledTimes(1);
  expect(text).toBe(await client.shippedText());
});

test('the example client retries a 429 without refreshing the token', async () => {
  await using client = await startClient();
  client.sandbox.faults.add({ kind: 'status', status: 429, method: 'POST', path: '/v1/quotes', times: 1 });
  const text = await client.ship();
  expect(client.shipments()).toHaveLength(1);
  expect([client.requestCount(), client.refresh.mock.calls.length]).toEqual([2, 0]);
  expect(text).toBe(await client.shippedText());
});

test('the example client does not wait for an hour', async () => {
  await using client = await startClient();
  const headers = { 'retry-after': '3600' };
  client.sandbox.faults.add({ kind: 'status', status: 429, method: 'POST', path: '/v1/quotes', headers });
  expect(await client.ship()).toMatch(/^Failed: /);
  expect([client.requestCount(), client.shipments()]).toEqual([1, []]);
});

test('the example client stops if the refreshed token is rejected', async () => {
  await using client = await startClient();
  client.sandbox.faults.add({ kind: 'status', status: 401 });
  expect(await client.ship()).toMatch(/^Failed: /);
  expect([client.requestCount(), client.refresh.mock.calls.length]).toEqual([2, 1]);
});
