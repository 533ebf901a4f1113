import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { load } from '../bench/peers/load.ts';

/** Loads a server over three connections, each until its first answer after a few milliseconds. */
async function loaded(answer: (response: ServerResponse, count: number) => void) {
  const requests: { path: string | undefined; bearer: string | undefined; body: string }[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks = await request.toArray();
    const { authorization: bearer } = request.headers;
    requests.push({ path: request.url, bearer, body: Buffer.concat(chunks).toString() });
    answer(response, requests.length);
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    let token = 0;
    const seen = await load({
      // A server that listens on a TCP port has an address of this form.
      port: (server.address() as AddressInfo).port,
      path: '/graphql',
      bodies: ['{"query":"{ é }"}', '{"query":"{ b }"}'],
      nextBearer: () => `token-${++token}`,
      connections: 3,
      forMs: 5,
    });
    return { requests, seen };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const data = `{"data":{"text":"${'0'.repeat(200_000)}"}}`;

describe('the load of the benchmark', () => {
  test('counts answers with a length, which come in many pieces, and gives each request a token of its own', async () => {
    const { requests, seen } = await loaded((response) => {
      response.writeHead(200, { 'content-length': data.length }).end(data);
    });
    expect(seen.requests).toBe(requests.length);
    expect(seen.latenciesMs).toHaveLength(requests.length);
    expect(new Set(requests.map(({ bearer }) => bearer)).size).toBe(requests.length);
    expect(requests).toEqual(
      expect.arrayContaining([
        { path: '/graphql', bearer: 'Bearer token-1', body: '{"query":"{ é }"}' },
        { path: '/graphql', bearer: 'Bearer token-2', body: '{"query":"{ b }"}' },
        { path: '/graphql', bearer: 'Bearer token-3', body: '{"query":"{ é }"}' },
      ]),
    );
  });

  test('counts chunked answers, wherever their pieces end', async () => {
    const { requests, seen } = await loaded((response, count) => {
      response.writeHead(200);
      response.write('{"data":');
      // The mark of the last chunk then comes by itself or behind others.
      if (count % 2 === 0) response.end('null}');
      else setImmediate(() => response.end(`"${'0'.repeat(70_000 + count)}"}`));
    });
    expect(seen.requests).toBe(requests.length);
  });

  test('takes no answer with errors', async () => {
    const answered = loaded((response) => {
      response.end('{"errors":[{"message":"no such field"}]}');
    });
    await expect(answered).rejects.toThrow('no such field');
  });

  test('takes no other status than 200', async () => {
    const answered = loaded((response) => {
      response.writeHead(503).end();
    });
    await expect(answered).rejects.toThrow('Expected an answer without errors, but got HTTP/1.1 503');
  });

  test('takes no connection that ends', async () => {
    const answered = loaded((response) => {
      response.destroy();
    });
    await expect(answered).rejects.toThrow(/closed|ECONNRESET|EPIPE/);
  });
});
