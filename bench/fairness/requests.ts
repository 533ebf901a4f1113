import { requestText } from '../load.ts';

// The requests of the attacks, as they go over the wire.

/** The pieces with the numbers from 0 on, with a space between them. */
export const many = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join(' ');

const json = 'content-type: application/json';

/** A GraphQL request. @param token undefined for a request without a token */
export function post(token: string | undefined, query: string, variables: object = {}): string {
  return requestText({
    path: '/graphql',
    token,
    headers: [json],
    body: JSON.stringify({ query, variables }),
  });
}

/** Like `post`. The server closes the connection after the response. */
export function lastPost(token: string, query: string): string {
  const headers = [json, 'connection: close'];
  return requestText({ path: '/graphql', token, headers, body: JSON.stringify({ query }) });
}

/** A small request of a stranger, with a body of this size in bytes. */
const paddedBody = (bytes: number) => '{"query":"{ __typename }"}'.padEnd(bytes);

/** A request with a body of 64 KB, for a sender of single bytes. */
export function largePost(): string {
  return requestText({ path: '/graphql', headers: [json], body: paddedBody(65_536) });
}

let chunked: Buffer | undefined;

/** A request whose body of 1 MB has a chunk for each byte. */
export function postInByteChunks(): Buffer {
  if (chunked !== undefined) return chunked;
  const head = requestText({ path: '/graphql', headers: [json, 'transfer-encoding: chunked'] });
  const chunks = Array.from(paddedBody(1_000_000), (character) => `1\r\n${character}\r\n`);
  chunked = Buffer.from(`${head}${chunks.join('')}0\r\n\r\n`);
  return chunked;
}
