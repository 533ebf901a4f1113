import type { IncomingMessage, RequestListener } from 'node:http';
import { type Refusal, writeRefusal } from './refusal.ts';

const refusal: Refusal = {
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The header "Host" and the request target make no URL.',
  retryable: false,
};

/**
 * Keeps requests without a usable URL from `listener`, and answers them 400. Yoga's adapter makes the URL of each
 * request from its header `Host` and its target, and answers one that it can't make with a stack.
 */
export function wellAddressed(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (hasUrl(request)) listener(request, response);
    else writeRefusal(response, refusal);
  };
}

function hasUrl({ headers: { host = '' }, url = '/' }: IncomingMessage): boolean {
  // Any of these would end the host early, and make the rest of it path, query or fragment.
  if (/[\s/\\?#@]/.test(host)) return false;
  // Without a host the adapter takes the local address.
  return URL.canParse(`http://${host === '' ? 'localhost' : host}${url}`);
}
