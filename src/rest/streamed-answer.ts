import { pipeline, type Readable, Transform } from 'node:stream';
import { bodyOf, isCompressed } from './answer-body.ts';
import { described, type RestCall } from './call.ts';
import { InvalidResponseError } from './errors.ts';
import { type StreamedResponse, tooLargeFor } from './incoming-body.ts';

/** An answer that is handed on as it arrives. */
export interface RestStream {
  contentType: string;
  contentLength: string | undefined;
  body: Readable;
}

/**
 * The body of an answer as it arrives, once its first bytes are there; decompressed, it breaks off after `maxBytes`.
 * @throws ResponseTooLargeError where it says beforehand that it is larger, InvalidResponseError where it is empty, and what
 * the body fails with before its first byte. The body is then ended.
 */
export async function streamedAnswer(
  call: RestCall,
  response: StreamedResponse,
  maxBytes: number,
): Promise<RestStream> {
  const { headers } = response;
  const contentLength = isCompressed(headers) ? undefined : headers['content-length']?.toString();
  if (Number(contentLength) > maxBytes) {
    response.body.destroy();
    throw tooLargeFor(call, maxBytes);
  }
  const body = isCompressed(headers)
    ? bounded(bodyOf(call, response), maxBytes, () => tooLargeFor(call, maxBytes))
    : response.body;
  if (!(await hasBytes(body))) throw new InvalidResponseError(`${described(call)} answered nothing`);
  return { contentType: String(headers['content-type'] ?? ''), contentLength, body };
}

/** Whether a body has any bytes, as soon as the first are there; they stay to be read. */
function hasBytes(body: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    function settle(): void {
      body.off('readable', look).off('end', none).off('error', fail);
    }
    function look(): void {
      if (body.readableLength > 0) {
        settle();
        resolve(true);
      } else {
        // At its end too it becomes readable, and says so once it is asked for more.
        body.read();
      }
    }
    function none(): void {
      settle();
      resolve(false);
    }
    function fail(error: Error): void {
      settle();
      reject(error);
    }
    body.on('readable', look).on('end', none).on('error', fail);
    if (body.destroyed) fail(body.errored ?? new Error('the body has been destroyed'));
  });
}

/** What passes through as long as it is not too large. */
function bounded(body: Readable, maxBytes: number, tooLarge: () => Error): Readable {
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      if (bytes > maxBytes) callback(tooLarge());
      else callback(null, chunk);
    },
  });
  return pipeline(body, bound, () => {});
}
