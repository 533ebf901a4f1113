import type { HttpError } from './http-error.ts';

/**
 * Whether a `content-type` is JSON in UTF-8. Media types and the names of parameters match in any case and with blanks
 * around them, as in HTTP.
 */
export function isJson(contentType: string | null): boolean {
  if (contentType === null) return false;
  // What nearly all clients send.
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (mediaType.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^(utf-?8|"utf-?8")$/.test(value.trim());
  });
}

const answerTypes = new Set([
  '*/*',
  'application/*',
  'application/json',
  'application/graphql-response+json',
  'multipart/*',
  'multipart/mixed',
  'text/*',
  'text/event-stream',
]);

/** Refuses a request whose answer could have no form that its `accept` names, before anything of it is run. */
export function acceptError(accept: string | null): HttpError | undefined {
  // What nearly all clients send.
  if (accept === null || accept === '*/*' || accept === 'application/json' || accept === '') return undefined;
  if (accept.replace(/\s/g, '').toLowerCase().split(',').some(isAnswerType)) return undefined;
  return {
    status: 406,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Answers are JSON in UTF-8: send the request with the header "accept: application/json".',
    retryable: false,
  };
}

function isAnswerType(range: string): boolean {
  const [mediaType = '', ...parameters] = range.split(';');
  const charset = parameters.find((parameter) => parameter.includes('charset='));
  return answerTypes.has(mediaType) && (charset === undefined || charset === 'charset=utf-8');
}
