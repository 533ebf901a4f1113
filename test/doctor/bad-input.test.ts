import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { examine } from '../../src/doctor/examine.ts';
import { type Answer, answerJson, startService } from '../fixtures/rest-service.ts';
import { selfSigned } from '../fixtures/self-signed.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serviceOf(answer: Answer): Promise<URL> {
  const service = await startService(answer, true);
  closers.push(() => service[Symbol.asyncDispose]());
  return service.url;
}

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  // The address of a TCP server is an object.
  return (server.address() as AddressInfo).port;
}

const text =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

const page = text(200, '<title>Log in</title>', { 'content-type': 'text/html; charset=utf-8' });
const orders = answerJson({ orders: [], nextPageToken: '' });
const later =
  (ms: number): Answer =>
  (request, response, body) => {
    setTimeout(() => orders(request, response, body), ms);
  };

/** Closed ports: nothing listens there. */
async function closedPort(): Promise<URL> {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  return new URL(`http://127.0.0.1:${port}`);
}

async function garbage(): Promise<URL> {
  const server = createServer((socket) => socket.end('220 mail.example.com ready\r\n').on('error', () => {}));
  return new URL(`http://127.0.0.1:${await portOf(server)}`);
}

async function tls(): Promise<URL> {
  return new URL(`https://localhost:${await portOf(createHttpsServer(selfSigned))}`);
}

async function withPath(url: Promise<URL>, path: string): Promise<URL> {
  return new URL(path, await url);
}

async function withTls(url: Promise<URL>): Promise<URL> {
  return new URL(`https://${(await url).host}`);
}

const onlyBelow =
  (prefix: string): Answer =>
  (request, response, body) =>
    request.url?.startsWith(`${prefix}/v1/orders`)
      ? orders(request, response, body)
      : text(404, 'Not found')(request, response, body);

const list = 'A list of orders was expected.';

test.each<[string, () => Promise<URL>, string, string, number?]>([
  ['the address of a web page', () => serviceOf(page), `returned 200 and text/html. ${list}`, 'web page'],
  [
    'the address of another API',
    () => serviceOf(answerJson({ ok: true })),
    `returned 200 and other JSON. ${list}`,
    'another API',
  ],
  [
    'an address with a wrong path',
    () => serviceOf(text(404, 'Not found')),
    `returned 404 and no content type. ${list}`,
    'path',
  ],
  [
    'a rejected token',
    () => serviceOf(answerJson({}, 401)),
    `rejected with 401. ${list}`,
    'Use a valid token',
  ],
  [
    'a token without permissions',
    () => serviceOf(answerJson({}, 403)),
    `rejected with 403. ${list}`,
    'permission to read',
  ],
  ['a service that is down', closedPort, `failed (ECONNREFUSED). ${list}`, 'whether the REST service runs'],
  [
    'an unknown host',
    async () => new URL('http://waybill-doctor.invalid'),
    list,
    'Check the address and the DNS',
  ],
  [
    'a service that fails',
    () => serviceOf(answerJson({}, 503)),
    `failed (503). ${list}`,
    'The REST service is down',
  ],
  [
    'a gateway with a timeout',
    () => serviceOf(answerJson({}, 499)),
    `failed (499). ${list}`,
    'The REST service is down',
  ],
  ['a slow service', () => serviceOf(later(90)), '80 ms were expected.', 'why it is slow', 400],
  ['a service that hangs', () => serviceOf(() => {}), `failed (TIMEOUT). ${list}`, 'overloaded', 400],
  ['a response that is not HTTP', garbage, `(HTTPParserError). ${list}`, 'not valid HTTP'],
  [
    'a truncated body',
    () => serviceOf(text(200, '{"orders":[', { 'content-length': '99' })),
    'failed (',
    'Check',
    400,
  ],
  [
    'a redirect to a login page',
    () => serviceOf(text(302, '', { location: 'https://id.example.com/login?token=1' })),
    `returned 302, a redirect to id.example.com. ${list}`,
    'A login page is not the REST service.',
  ],
  [
    'a redirect to another address of the service',
    () => serviceOf(text(308, '', { location: 'https://api.example.com/rest/v1/orders' })),
    `returned 308, a redirect to api.example.com. ${list}`,
    'Use --url https://api.example.com/rest',
  ],
  ['an untrusted certificate', tls, `failed (DEPTH_ZERO_SELF_SIGNED_CERT). ${list}`, 'NODE_EXTRA_CA_CERTS'],
  [
    'a port without TLS',
    () => withTls(serviceOf(orders)),
    `failed (`,
    'The server at this port does not use TLS.',
  ],
  ['a rate limit', () => serviceOf(answerJson({}, 429)), `failed (429). ${list}`, 'Wait'],
  [
    'an address with an extra version',
    () => withPath(serviceOf(onlyBelow('/api')), '/api/v1'),
    'The address has an extra path segment or slash.',
    '/api',
  ],
  [
    'an address with an extra slash',
    () => withPath(serviceOf(onlyBelow('/api')), '/api//'),
    'The address has an extra path segment or slash.',
    '/api',
  ],
])(
  'the doctor reports the cause and a remedy for %s',
  async (_name, start, cause, remedy, timeoutMs = 5_000) => {
    const url = await start();
    const report = await examine({ url, token: 'secret-token', spacingMs: 0, timeoutMs });
    expect(report.isUsable).toBe(false);
    expect(report.settings).toEqual({});
    const failures = report.findings.filter(({ mark }) => mark === 'failure');
    expect(failures).toEqual([
      {
        check: expect.any(String),
        mark: 'failure',
        cause: expect.stringContaining(cause),
        remedy: expect.stringContaining(remedy),
      },
    ]);
    // Nothing else was checked.
    expect(report.findings.at(-1)).toBe(failures[0]);
  },
);
