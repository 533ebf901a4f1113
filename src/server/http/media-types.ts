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
export function checkAccept(accept: string | null): HttpError | undefined {
  // The values that nearly all clients send.
  if (accept === null || accept === '*/*' || accept === 'application/json' || accept === '') return undefined;
  if (withoutRefusedTypes(accept).split(',').some(isResponseType)) return undefined;
  return {
    status: 406,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Answers are JSON in UTF-8: send the request with the header "accept: application/json".',
    retryable: false,
  };
}

const completeTypes = [...responseTypes].filter((type) => !type.includes('*'));
const refusal = /^([^;]+);q=0(?:\.0*)?$/;

/** Whether `accept` has the weight 0, by which a client refuses a media type. */
export function mayRefuseTypes(accept: string): boolean {
  return /;\s*q=0(?:\.0*)?\s*(?:[,;]|$)/i.test(accept);
}

/**
 * `accept` in lower case and without the media types that it refuses by `q=0`. Yoga does not read these weights.
 * If a type is refused, each range such as `application/*` becomes the types that remain.
 */
export function withoutRefusedTypes(accept: string): string {
  const ranges = accept.replace(/\s/g, '').toLowerCase().split(',');
  const refused = new Set(ranges.flatMap((range) => refusal.exec(range)?.[1] ?? []));
  if (refused.size === 0) return ranges.join(',');
  const accepted = ranges
    .filter((range) => isResponseType(range) && !refusal.test(range))
    .map((range) => range.split(';', 1)[0] ?? '');
  function placeOf(type: string): number {
    // As in HTTP, the most specific range decides.
    const decisive = [type, type.replace(/\/.*/, '/*'), '*/*'].find(
      (range) => refused.has(range) || accepted.includes(range),
    );
    return decisive === undefined || refused.has(decisive) ? -1 : accepted.indexOf(decisive);
  }
  return completeTypes
    .filter((type) => placeOf(type) >= 0)
    .sort((one, other) => placeOf(one) - placeOf(other))
    .join(',');
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

/**
 * The first media type in `accept` that a response can have. Undefined without a match, with a charset, or with
 * `q=0`.
 */
export function mediaTypeFor(accept: string | undefined): string | undefined {
  // The values of nearly all clients.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return json;
  if (accept.includes('charset') || mayRefuseTypes(accept)) return undefined;
  for (const range of accept.split(',')) {
    const [mediaType = ''] = range.split(';', 1);
    const responseType = responseTypeByRange.get(mediaType.trim().toLowerCase());
    if (responseType !== undefined) return responseType;
  }
  return undefined;
}
