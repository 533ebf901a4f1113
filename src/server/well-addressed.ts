import type { IncomingMessage, RequestListener } from 'node:http';

const refusal = JSON.stringify({
  errors: [
    {
      message: 'The header "Host" and the request target make no URL.',
      extensions: { code: 'BAD_REQUEST', retryable: false },
    },
  ],
});

/**
 * Keeps requests without a usable URL from `listener`, and answers them 400. Yoga's adapter makes the URL of each
 * request from its header `Host` and its target, and answers one that it can't make with a stack.
 */
export function wellAddressed(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (hasUrl(request)) return listener(request, response);
    // The connection ends, as nobody reads the body.
    response.writeHead(400, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(refusal),
      connection: 'close',
    });
    response.end(refusal);
  };
}

function hasUrl({ headers: { host = '' }, url = '/' }: IncomingMessage): boolean {
  // Any of these would end the host early, and make the rest of it path, query or fragment.
  if (/[\s/\\?#@]/.test(host)) return false;
  // Without a host the adapter takes the local address.
  return URL.canParse(`http://${host === '' ? 'localhost' : host}${url}`);
}
