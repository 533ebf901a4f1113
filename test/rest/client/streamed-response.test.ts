import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  InvalidResponseError,
  ResponseTooLargeError,
  StatusError,
} from '../../../src/rest/errors.ts';
import {
  type Answer,
  answerJson,
  answerText,
  errorOf,
  startRestClient,
  startService,
  until,
} from '../../fixtures/rest-service.ts';

const pdf = { 'content-type': 'application/pdf' };

describe('a label response', () => {
  test('is streamed before the REST service has sent the last bytes', async () => {
    let finish = () => {};
    await using rest = await startRestClient((_request, response) => {
      response.writeHead(200, { ...pdf, 'content-length': '10' }).write('%PDF-');
      finish = () => response.end('%%EOF');
    });
    const { signal } = new AbortController();
    const label = await rest.api.getLabel('shipments/3', rest.callContext(signal));
    expect(label).toMatchObject({ contentType: 'application/pdf', contentLength: '10' });
    const [first] = await once(label.body, 'data');
    expect(String(first)).toBe('%PDF-');
    finish();
    expect((await buffer(label.body)).toString()).toBe('%%EOF');
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });

  test('is not limited by the call timeout while bytes keep arriving', async () => {
    await using rest = await startRestClient(
      async (_request, response) => {
        response.writeHead(200, pdf);
        for (const part of ['%P', 'DF', '%%', 'EO', 'F']) {
          response.write(part);
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        response.end();
      },
      { callTimeoutMs: 1_000 },
    );
    const label = await rest.api.getLabel('3', rest.callContext());
    expect(label.contentLength).toBeUndefined();
    expect((await buffer(label.body)).toString()).toBe('%PDF%%EOF');
  });

  test('fails if its bytes stop arriving', async () => {
    await using rest = await startRestClient(
      (_request, response) => response.writeHead(200, pdf).write('%P'),
      {
        callTimeoutMs: 600,
      },
    );
    const label = await rest.api.getLabel('3', rest.callContext());
    await expect(buffer(label.body)).rejects.toThrow('Body Timeout');
  });

  test('fails if the connection is reset', async () => {
    await using rest = await startRestClient((request, response) => {
      response.writeHead(200, { ...pdf, 'content-length': '10' }).write('%PDF-');
      setTimeout(() => request.socket.resetAndDestroy(), 5);
    });
    const label = await rest.api.getLabel('3', rest.callContext());
    await expect(buffer(label.body)).rejects.toThrow();
  });

  test('is aborted together with its operation', async () => {
    let isClosed = false;
    await using rest = await startRestClient((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200, pdf).write('%PDF-');
    });
    const controller = new AbortController();
    const label = await rest.api.getLabel('3', rest.callContext(controller.signal));
    const bytes = buffer(label.body);
    controller.abort();
    expect(await errorOf(bytes)).toBeInstanceOf(AbortedError);
    await until(() => isClosed);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('closes the REST connection if the reader destroys its body', async () => {
    let isClosed = false;
    await using rest = await startRestClient((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200, pdf).write('%PDF-');
    });
    const { signal } = new AbortController();
    const { body } = await rest.api.getLabel('3', rest.callContext(signal));
    body.on('error', () => {}).destroy();
    await until(() => isClosed);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test.each(['application/pdf;charset=binary', 'Application/PDF', 'application/pdf ; a=b'])(
    'is accepted with the content type "%s"',
    async (contentType) => {
      await using rest = await startRestClient(answerText('%PDF', 200, contentType));
      expect((await buffer((await rest.api.getLabel('3', rest.callContext())).body)).toString()).toBe('%PDF');
    },
  );

  test.each<[string, Answer]>([
    ['HTML', answerText('<p>', 200, 'text/html')],
    ['JSON', answerJson({})],
    ['application/pdfx', answerText('%PDF', 200, 'application/pdfx')],
  ])('is rejected if its content type is %s', async (_what, answer) => {
    await using rest = await startRestClient(answer);
    const { signal } = new AbortController();
    const error = await errorOf(rest.api.getLabel('3', rest.callContext(signal)));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toBe('GET /v1/shipments/3/label returned no PDF');
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });

  test.each<[string, Answer]>([
    ['status 204', (_request, response) => response.writeHead(204).end()],
    [
      'Content-Length: 0',
      (_request, response) => response.writeHead(200, { ...pdf, 'content-length': '0' }).end(),
    ],
    ['a chunked response', (_request, response) => response.writeHead(200, pdf).end()],
  ])('is rejected if it is empty: %s', async (_what, answer) => {
    await using rest = await startRestClient(answer);
    const { signal } = new AbortController();
    const error = await errorOf(rest.api.getLabel('3', rest.callContext(signal)));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toBe('GET /v1/shipments/3/label returned an empty body');
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });

  test('is rejected before the body is read if Content-Length is too large', async () => {
    await using rest = await startRestClient((_request, response) =>
      response.writeHead(200, { ...pdf, 'content-length': '16777217' }).write('%PDF'),
    );
    const error = await errorOf(rest.api.getLabel('3', rest.callContext()));
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error.message).toBe('GET /v1/shipments/3/label returned more than 16777216 bytes');
  });

  test('is aborted if it exceeds the size limit', async () => {
    let isClosed = false;
    await using rest = await startRestClient((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200, pdf);
      // Writes without end, as fast as the client reads.
      const more = () => {
        while (!isClosed && response.write(Buffer.alloc(10_000))) {}
      };
      response.on('drain', more);
      more();
    });
    const label = await rest.api.getLabel('3', rest.callContext());
    expect(await errorOf(buffer(label.body))).toBeInstanceOf(ResponseTooLargeError);
    await until(() => isClosed);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('is decompressed from %s by %o', async (encoding, compress) => {
    await using rest = await startRestClient((_request, response) => {
      const body = compress('%PDF%%EOF');
      response
        .writeHead(200, { ...pdf, 'content-encoding': encoding, 'content-length': body.length })
        .end(body);
    });
    const label = await rest.api.getLabel('3', rest.callContext());
    expect([label.contentLength, String(await buffer(label.body))]).toEqual([undefined, '%PDF%%EOF']);
  });

  test.each(['identity', '', 'utf-8', 'UTF-8', 'binary', 'none', 'identity, aws-chunked', 'application/pdf'])(
    'is passed on unchanged if its content-encoding "%s" is not a coding',
    async (encoding) => {
      await using rest = await startRestClient((_request, response) =>
        response
          .writeHead(200, { ...pdf, 'content-encoding': encoding, 'content-length': 9 })
          .end('%PDF%%EOF'),
      );
      const label = await rest.api.getLabel('3', rest.callContext());
      expect([label.contentLength, String(await buffer(label.body))]).toEqual(['9', '%PDF%%EOF']);
    },
  );

  test.each(['zstd', 'compress', 'gzip, br'])('fails if its coding is unknown: %s', async (encoding) => {
    await using rest = await startRestClient((_request, response) =>
      response.writeHead(200, { ...pdf, 'content-encoding': encoding }).end('%PDF%%EOF'),
    );
    const error = await errorOf(rest.api.getLabel('3', rest.callContext()));
    expect(error.message).toBe('GET /v1/shipments/3/label returned a body with an unknown encoding');
  });

  test.each([
    ['arrives complete at a slow reader', (body: Buffer) => body, undefined],
    ['fails if it is cut off', (body: Buffer) => body.subarray(0, -100_000), 'unexpected end of file'],
    [
      'fails if it is too large',
      () => gzipSync(Buffer.alloc(17_000_000)),
      'returned more than 16777216 bytes',
    ],
  ])('in gzip %s', async (_how, sent, failure) => {
    const pdfBytes = randomBytes(3_000_000);
    const body = sent(gzipSync(pdfBytes));
    await using rest = await startRestClient((_request, response) =>
      response.writeHead(200, { ...pdf, 'content-encoding': 'gzip' }).end(body),
    );
    const { signal } = new AbortController();
    const label = await rest.api.getLabel('3', rest.callContext(signal));
    const chunks: Buffer[] = [];
    const read = async () => {
      for await (const chunk of label.body) {
        chunks.push(chunk);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    if (failure === undefined) {
      await read();
      expect(Buffer.concat(chunks).equals(pdfBytes)).toBe(true);
    } else {
      await expect(read()).rejects.toThrow(failure);
    }
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });

  test.each([
    ['uncompressed', {}],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('applies backpressure to the REST service: %s', async (_how, encoding) => {
    let sent = 0;
    await using rest = await startRestClient((_request, response) => {
      response.writeHead(200, { ...pdf, ...encoding });
      const source = Object.keys(encoding).length === 0 ? response : createGzip();
      if (source !== response) source.pipe(response);
      const more = () => {
        while (!response.destroyed && source.write(randomBytes(50_000))) sent += 50_000;
      };
      source.on('drain', more);
      more();
    });
    const label = await rest.api.getLabel('3', rest.callContext());
    // Waits until the buffers of sockets and streams are full. On a busy machine that takes a while.
    const maxSent = 15_000_000;
    for (let sentBefore = -1; sent !== sentBefore && sent < maxSent; ) {
      sentBefore = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(sent).toBeLessThan(maxSent);
    label.body.destroy();
  });

  test('is rejected if its first chunk exceeds the size limit', async () => {
    await using rest = await startRestClient((_request, response) => {
      response.writeHead(200, pdf);
      response.write(Buffer.alloc(17_000_000));
    });
    const { signal } = new AbortController();
    const error = await errorOf(
      rest.api.getLabel('3', rest.callContext(signal)).then(({ body }) => buffer(body)),
    );
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });

  test('of 3 MB arrives complete at a slow reader', async () => {
    await using rest = await startRestClient((_request, response) =>
      response.writeHead(200, pdf).end(Buffer.alloc(3_000_000, '%')),
    );
    const { body } = await rest.api.getLabel('3', rest.callContext());
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(bytes).toBe(3_000_000);
  });

  test('keeps its message if it is an HTTP error', async () => {
    await using rest = await startRestClient(answerJson({ message: 'not yet generated' }, 409));
    const error = await errorOf(rest.api.getLabel('3', rest.callContext()));
    expect(error).toBeInstanceOf(StatusError);
    expect(error.message).toBe('GET /v1/shipments/3/label returned 409: not yet generated');
  });
});

test('a closed client does not keep the process alive', async () => {
  await using service = await startService(answerJson({ name: 'orders/7' }));
  const script = `
    import { createRestClient } from './src/rest/client/client.ts';
    import { createRestApi } from './src/rest/api.ts';
    import { createCallContexts } from './test/fixtures/call-contexts.ts';
    const client = createRestClient({
      baseUrl: new URL('${service.url}'), connections: 4, streamConnections: 4,
      connectTimeoutMs: 60000, callTimeoutMs: 60000, streamTimeoutMs: 60000, maxResponseBytes: 1000, retries: 0,
    });
    const callContext = createCallContexts().of('token', new AbortController().signal);
    const order = await createRestApi(client, {}).getOrder('7', callContext);
    await client.close();
    console.log(order.name);
  `;
  const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    cwd: new URL('../../..', import.meta.url).pathname,
    timeout: 90_000,
  });
  expect((await run).stdout).toBe('orders/7\n');
});
