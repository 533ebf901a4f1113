import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { tenants, tokenOf, type UpstreamGreeting } from './upstream.ts';
import { createTenantRecords, type TenantRecords } from './upstream-records.ts';

// A REST service that answers from memory, in a process of its own. An identifier `fault-<kind>-<anything>` fails in that way.

const recordsByToken = new Map(
  createTenantRecords(tenants).map((records, index) => [`Bearer ${tokenOf(index)}`, records]),
);
const calls: Record<string, number> = {};
let created = 0;

type Fail = (request: IncomingMessage, response: ServerResponse) => void;

const statusOf = (status: number, body: string, type = 'application/json'): Fail => {
  return (_request, response) => response.writeHead(status, { 'content-type': type }).end(body);
};

const largeLabel = Buffer.alloc(10_000_000, '%PDF');

const faults: Record<string, Fail> = {
  hang: () => {},
  reset: (request) => request.socket.resetAndDestroy(),
  cut: (request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      .write('{"name":"or');
    setTimeout(() => request.socket.destroy(), 5);
  },
  drip: (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 50);
    response.once('close', () => clearInterval(timer));
  },
  large: (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(largeLabel),
  html: statusOf(502, '<html>Bad gateway</html>', 'text/html'),
  page: statusOf(200, '<html>Sign in</html>', 'text/html'),
  null: statusOf(200, 'null'),
  array: statusOf(200, '[]'),
  json: statusOf(200, '{"name":'),
  400: statusOf(400, '{"error":{"message":"No."}}'),
  404: statusOf(404, '{"error":{"message":"There is none."}}'),
  429: (_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
  500: statusOf(500, '{"error":{"message":"A fault."}}'),
  503: statusOf(503, ''),
};

const server = createServer((request, response) => {
  const { method = '', url = '', headers } = request;
  const records = recordsByToken.get(headers.authorization ?? '');
  const [path = '', query = ''] = url.slice('/v1/'.length).split('?');
  const kind = `${method} ${path.split('/')[0]}`;
  calls[kind] = (calls[kind] ?? 0) + 1;
  if (records === undefined) return statusOf(401, '{"error":{"message":"Who is there?"}}')(request, response);
  const fault = /fault-(\w+)/.exec(path)?.[1];
  if (fault !== undefined) return faults[fault]?.(request, response);
  if (method === 'GET') return read(records, path, new URLSearchParams(query), response);
  void write(records, path, request).then((answer) => send(response, answer));
});

function read(
  { byPath, lists, mark }: TenantRecords,
  path: string,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const list = lists.get(path);
  if (list !== undefined) {
    const filter = query.get('query');
    const rows = filter === null ? list : list.filter(({ name }) => name.includes(filter));
    const key = path.split('/').at(-1) ?? '';
    send(response, { [key]: rows.slice(0, Number(query.get('pageSize') ?? 100)), nextPageToken: '' });
    return;
  }
  if (path.endsWith('/label')) {
    response
      .writeHead(200, { 'content-type': 'application/pdf' })
      .end(`%PDF-1.4 ${mark} ${'x'.repeat(4_000)}`);
    return;
  }
  const record = byPath.get(path);
  if (record === undefined) statusOf(404, '{"error":{"message":"There is none."}}')(response.req, response);
  else send(response, record);
}

async function write(
  { mark, byPath }: TenantRecords,
  path: string,
  request: IncomingMessage,
): Promise<object> {
  const body = Object(await json(request));
  if (request.method === 'PATCH') return { ...byPath.get(path), ...body.order };
  created += 1;
  const [template] = byPath.values();
  return { ...template, ...body, recipient: Object(template).recipient, name: `${path}/${mark}9${created}` };
}

function send(response: ServerResponse, answer: object): void {
  const body = JSON.stringify(answer);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');
// A server that listens on a TCP port has an address of this form.
const { port } = server.address() as AddressInfo;
process.on('message', () => process.send?.(calls));
process.once('disconnect', () => process.exit());
process.send?.({ url: `http://127.0.0.1:${port}` } satisfies UpstreamGreeting);
