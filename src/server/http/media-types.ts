import type { HttpError } from './http-error.ts';

/**
 * Whether a `content-type` is JSON in UTF-8. As in HTTP, case does not matter, and spaces may surround media types
 * and parameter names.
 */
export function isJson(contentType: string | null): boolean {
  if (contentType === null) return false;
  // The value that nearly all clients send.
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (mediaType.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^(utf-?8|"utf-?8")$/.test(value.trim());
  });
}

const responseTypes = new Set([
  '*/*',
  'application/*',
  'application/json',
  'application/graphql-response+json',
  'multipart/*',
  'multipart/mixed',
  'text/*',
  'text/event-stream',
]);

/** Checks `accept` before the operation runs. @returns the error if no supported media type is accepted. */
export function acceptError(accept: string | null): HttpError | undefined {
  // The values that nearly all clients send.
  if (accept === null || accept === '*/*' || accept === 'application/json' || accept === '') return undefined;
  if (accept.replace(/\s/g, '').toLowerCase().split(',').some(isResponseType)) return undefined;
  return {
    status: 406,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Answers are JSON in UTF-8: send the request with the header "accept: application/json".',
    retryable: false,
  };
}

function isResponseType(range: string): boolean {
  const [mediaType = '', ...parameters] = range.split(';');
  const charset = parameters.find((parameter) => parameter.includes('charset='));
  return responseTypes.has(mediaType) && (charset === undefined || charset === 'charset=utf-8');
}

const json = 'application/json; charset=utf-8';
const graphqlJson = 'application/graphql-response+json; charset=utf-8';
const responseTypeByRange = new Map([
  ['*/*', json],
  ['application/*', json],
  ['application/json', json],
  ['application/graphql-response+json', graphqlJson],
]);

/** The first media type in `accept` that a response can have. Undefined without a match or with a charset. */
export function mediaTypeFor(accept: string | undefined): string | undefined {
  // The values of nearly all clients.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return json;
  if (accept.includes('charset')) return undefined;
  for (const range of accept.split(',')) {
    const [mediaType = ''] = range.split(';', 1);
    const responseType = responseTypeByRange.get(mediaType.trim().toLowerCase());
    if (responseType !== undefined) return responseType;
  }
  return undefined;
}
