import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry, type Telemetry } from '../../../src/telemetry/telemetry.ts';
import { type Browser, browserMissingNote, hasBrowser, openBrowser } from '../../fixtures/browser.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

test.skipIf(hasBrowser)('a cross-origin page is not tested without a browser', ({ skip }) =>
  skip(browserMissingNote),
);

describe.runIf(hasBrowser)('a cross-origin page in a browser', () => {
  const shop = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Shop</title>');
  });
  let telemetry: Telemetry;
  let origin: string;
  let browser: Browser;
  let waybill: Waybill;
  let unlisted: Waybill;

  beforeAll(async () => {
    const { port } = await new Promise<{ port: number }>((resolve) => {
      // `address` returns an AddressInfo for every server on a TCP port.
      shop.listen(0, '127.0.0.1', () => resolve(shop.address() as { port: number }));
    });
    origin = `http://127.0.0.1:${port}`;
    waybill = await startWaybill({ CORS_ORIGINS: origin });
    telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
    unlisted = await startWaybill({}, { sandbox: waybill.sandbox, telemetry });
    browser = await openBrowser();
    await browser.page.goto(origin);
  });
  afterAll(async () => {
    await browser.close();
    await unlisted[Symbol.asyncDispose]();
    await waybill[Symbol.asyncDispose]();
    await new Promise((resolve) => shop.close(resolve));
  });

  /** Sends a query from the page. @returns what a script in the page sees. */
  const askFromPage = ({ url }: Waybill, headers: Record<string, string>) =>
    browser.page.evaluate(
      async ([address, init]) => {
        try {
          const response = await fetch(address, init);
          return { json: await response.json(), requestId: response.headers.get('x-request-id') };
        } catch (error) {
          return String(error);
        }
      },
      [
        new URL('/graphql', url).href,
        {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${waybill.sandbox.tokens.first}`,
            'x-request-id': 'a-page',
            ...headers,
          },
          body: '{"query":"{ organization { id } }"}',
        },
      ] as const,
    );

  test.each<[string, Record<string, string>]>([
    ['Apollo Client', { 'apollographql-client-name': 'shop', 'apollographql-client-version': '1.2.3' }],
    [
      'OpenTelemetry',
      {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'a=b',
        baggage: 'c=d',
      },
    ],
    ['Sentry', { 'sentry-trace': '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1', baggage: 'c=d' }],
    ['AJAX libraries', { 'x-requested-with': 'XMLHttpRequest', 'cache-control': 'no-cache' }],
  ])('may send the headers of %s', async (_library, headers) => {
    expect(await askFromPage(waybill, headers)).toEqual({
      json: { data: { organization: { id: 'organization/cafe-andino' } } },
      requestId: 'a-page',
    });
  });

  test('cannot read a response if CORS_ORIGINS does not list its origin', async () => {
    waybill.sandbox.requests.clear();
    expect(await askFromPage(unlisted, {})).toBe('TypeError: Failed to fetch');
    expect(await askFromPage(unlisted, { traceparent: 'x' })).toBe('TypeError: Failed to fetch');
    expect(waybill.sandbox.requests.lines()).toEqual([]);
    expect((await telemetry.metrics?.page())?.body).toContain('\nwaybill_refused_origins_total 2\n');
  });
});
