import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { described, type RestCall } from './call.ts';
import { InvalidResponseError, ResponseTooLargeError } from './errors.ts';
import type { StreamedResponse } from './incoming-body.ts';
import type { LedgerEntry } from './ledger.ts';

type Headers = StreamedResponse['headers'];

// A Map, as an answer may name anything, also what every object has.
const decompressors = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** What is asked for where answers may be compressed. */
export const acceptedEncodings = 'gzip, br, deflate';

/** Whether the answer is compressed, so that its length is not that of what is in it. */
export function isCompressed(headers: Headers): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

/** What decompresses an answer with these headers; undefined where it is compressed in a way that is not known. */
export function decompressorOf(headers: Headers): Transform | undefined {
  return decompressors.get(String(headers['content-encoding']).trim().toLowerCase())?.();
}

/** What an answer is that is compressed in a way that is not known. */
export function unknownEncoding(call: RestCall): InvalidResponseError {
  return new InvalidResponseError(`${described(call)} answered in an encoding that is not known`);
}

/**
 * The body of an answer as it is meant, decompressed where it has to be. It is read to its end or destroyed.
 * @throws InvalidResponseError where it is compressed in a way that is not known; the body is then ended.
 */
export function bodyOf(call: RestCall, { headers, body }: StreamedResponse): Readable {
  if (!isCompressed(headers)) return body;
  const decompressor = decompressorOf(headers);
  if (decompressor === undefined) {
    body.destroy();
    throw unknownEncoding(call);
  }
  // Either one that fails or is destroyed ends the other; who reads hears of it.
  return pipeline(body, decompressor, () => {});
}

/**
 * The text of an answer.
 * @throws ResponseTooLargeError as soon as more than `maxBytes` have come out of it, and InvalidResponseError.
 */
export async function textOf(
  call: RestCall,
  response: StreamedResponse,
  maxBytes: number,
  entry: LedgerEntry,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bodyOf(call, response)) {
    bytes += chunk.length;
    entry.bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new ResponseTooLargeError(`${described(call)} answered more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
