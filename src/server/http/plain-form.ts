import type { IncomingMessage } from 'node:http';
import { authorizationRefusal } from './request-form.ts';

const json = 'application/json; charset=utf-8';
const graphqlJson = 'application/graphql-response+json; charset=utf-8';

/**
 * The media type of the answer to a request of the plainest form: a POST of JSON, of which nothing is to be refused by its
 * head. Undefined for any other, also for such as are only written in an unusual way.
 */
export function plainAnswerType(request: IncomingMessage, maxBodyBytes: number): string | undefined {
  const { method, url, headers } = request;
  const isPlain =
    method === 'POST' &&
    url === '/graphql' &&
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined &&
    !(Number(headers['content-length']) > maxBodyBytes) &&
    authorizationRefusal(request.rawHeaders) === undefined;
  return isPlain ? answerType(headers.accept) : undefined;
}

/** The first of a list of media types that answers have; undefined where it may have to be read more closely. */
function answerType(accept: string | undefined): string | undefined {
  // What nearly all clients send.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return json;
  if (accept.includes('charset')) return undefined;
  for (const range of accept.split(',')) {
    const [mediaType = ''] = range.split(';', 1);
    const type = types.get(mediaType.trim().toLowerCase());
    if (type !== undefined) return type;
  }
  return undefined;
}

const types = new Map([
  ['*/*', json],
  ['application/*', json],
  ['application/json', json],
  ['application/graphql-response+json', graphqlJson],
]);
