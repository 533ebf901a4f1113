// Measures idle streams of subscriptions: their heap, and the latency of a small query beside them.
// `node --expose-gc bench/live.ts [streams]`

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { readConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/start-server.ts';
import { silentLog } from '../src/telemetry/log.ts';
import { openSqliteStore } from '../src/writes/store/sqlite-store.ts';

const streamCount = Number(process.argv[2] ?? 1_000);
const tokenCount = 10;
const queries = 1_000;

let restCalls = 0;
const rest = createServer((_request, response) => {
  restCalls += 1;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name: 'organization/1', balanceCents: 1, creditLimitCents: 0 }));
});
rest.listen(0, '127.0.0.1');
await once(rest, 'listening');
const address = rest.address();
if (address === null || typeof address === 'string') throw new Error('REST has no port');
const restUrl = new URL(`http://127.0.0.1:${address.port}`);
const config = readConfig({ PORT: '0', METRICS: 'no', SHOW_COST: 'no', UPSTREAM_URL: restUrl.href });
const server = await startServer(config, {
  upstream: { url: restUrl, bearer: undefined, close: async () => {} },
  trustedDocuments: undefined,
  keyStore: await openSqliteStore({ file: 'memory' }),
  log: silentLog,
});

/** Milliseconds of a small query, the median and the 99th percentile of many in turn. */
async function measureQueries() {
  const times: number[] = [];
  for (let count = 0; count < queries; count += 1) {
    const startedAtMs = performance.now();
    const response = await fetch(new URL('/graphql', server.url), {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-queries', 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ organization { id } }' }),
    });
    await response.arrayBuffer();
    times.push(performance.now() - startedAtMs);
  }
  times.sort((one, other) => one - other);
  return { p50: times[queries / 2], p99: times[Math.floor(0.99 * queries)] };
}

const body = JSON.stringify({ query: 'subscription { organization { balance { cents } } }' });

/** Opens a stream, and waits for its first event. The socket of the client is part of the heap, too. */
async function openStream(token: number): Promise<Socket> {
  const socket = connect(Number(server.url.port), server.url.hostname);
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer token-${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      if (chunk.includes('"balance":{"cents":1}')) resolve();
      if (chunk.includes('event: complete')) reject(new Error(String(chunk)));
    });
    socket.once('close', reject);
  });
  return socket;
}

/** Sockets without a server's part: what the clients of this process take. */
async function heapOfSockets(): Promise<number> {
  const echo = createServer();
  echo.on('connection', (socket) => socket.pause());
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const before = heapBytes();
  const port = Number(Object(echo.address()).port);
  const sockets = Array.from({ length: streamCount }, () => connect(port, '127.0.0.1').on('data', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const bytes = heapBytes() - before;
  for (const socket of sockets) socket.destroy();
  echo.close();
  return bytes;
}

function heapBytes(): number {
  if (global.gc === undefined) throw new Error('Start with --expose-gc');
  for (let count = 0; count < 4; count += 1) global.gc();
  return process.memoryUsage().heapUsed;
}

await measureQueries();
const alone = await measureQueries();
const connectionPairs = await heapOfSockets();
const before = heapBytes();
const sockets: Socket[] = [];
for (let count = 0; count < streamCount; count += 1) sockets.push(await openStream(count % tokenCount));
await new Promise((resolve) => setTimeout(resolve, 3_000));
const streamBytes = heapBytes() - before;
const beside = await measureQueries();
const callsBefore = restCalls;
await new Promise((resolve) => setTimeout(resolve, 10_000));
process.stdout.write(
  `${JSON.stringify(
    {
      streams: sockets.filter(({ destroyed }) => !destroyed).length,
      heapPerStreamAndClientKb: Math.round(streamBytes / streamCount / 102.4) / 10,
      heapOfBareConnectionPairKb: Math.round(connectionPairs / streamCount / 102.4) / 10,
      queryAloneMs: alone,
      queryBesideStreamsMs: beside,
      restCallsInTenSeconds: restCalls - callsBefore,
    },
    undefined,
    2,
  )}\n`,
);
for (const socket of sockets) socket.destroy();
await server.end('interrupted');
rest.close();
