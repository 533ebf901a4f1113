import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

const part = Buffer.alloc(20_000, 'x');

/** What the service does with a label after its headers and first bytes, by the shipment's identifier. */
const labels: Record<string, (response: ServerResponse) => void> = {
  'cut-short': (response) => response.destroy(),
  stalled: () => {},
  endless: (response) => {
    const more = setInterval(() => response.write(part), 5);
    response.once('close', () => clearInterval(more));
  },
};

// A process of its own, as a mistake here would be one that ends the process.
let service: Server;
let waybill: ChildProcess;
let url: string;
let complaints = '';

beforeAll(async () => {
  service = createServer(({ url: path = '' }, response) => {
    const [, label = '', kind = ''] = /^\/v1\/shipments\/([a-z-]+)\.(\w+)\/label$/.exec(path) ?? [];
    const length = kind === 'announced' ? { 'content-length': '1000000' } : {};
    response.writeHead(200, { 'content-type': 'application/pdf', ...length });
    response.write(part, () => setTimeout(() => labels[label]?.(response), 20));
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  waybill = spawn(process.execPath, [new URL('../../../src/main.ts', import.meta.url).pathname], {
    env: { PORT: '0', UPSTREAM_URL: `http://127.0.0.1:${port}`, UPSTREAM_TIMEOUT_MS: '300' },
  });
  waybill.stderr?.on('data', (text) => {
    complaints += text;
  });
  if (waybill.stdout === null) throw new Error('the process has no output to read its address from');
  const [banner] = await once(waybill.stdout, 'data');
  url = /http:\/\/[^/]+/.exec(String(banner))?.[0] ?? '';
});

afterAll(() => {
  waybill.kill();
  service.closeAllConnections();
  service.close();
});

function fetchLabel(name: string, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(`${url}/labels/${name}.pdf`, { headers: { authorization: 'Bearer any' }, signal });
}

async function expectAlive(): Promise<void> {
  const answer = await fetch(`${url}/graphql?query=%7B__typename%7D`, {
    headers: { accept: 'application/json' },
  });
  expect(await answer.json()).toEqual({ data: { __typename: 'Query' } });
  expect(complaints).toBe('');
}

test.each([
  ['a cut-off label response with a Content-Length', 'cut-short.announced'],
  ['a cut-off chunked label response', 'cut-short.chunked'],
  ['a stalled label response with a Content-Length', 'stalled.announced'],
  ['a stalled chunked label response', 'stalled.chunked'],
])('%s does not stop the server', async (_what, name) => {
  const response = await fetchLabel(name);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
  await expectAlive();
});

test('clients that disconnect during a label download do not affect other requests', async () => {
  for (const leaveAfterMs of [0, 1, 2, 5, 10, 20, 30, 50, 80]) {
    const leaving = AbortSignal.timeout(leaveAfterMs);
    const label = fetchLabel('endless.chunked', leaving).then((response) => response.arrayBuffer());
    await expect(label).rejects.toThrow();
  }
  await expectAlive();
  // The service is let go too.
  await expect.poll(() => connections(service)).toBe(0);
});

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
