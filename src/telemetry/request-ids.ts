import { randomBytes } from 'node:crypto';

/** The accepted form of a client's request id. Other ids could forge log lines or make them very long. */
const validId = /^[A-Za-z0-9._-]{1,128}$/;

/** The function that returns the id of a request: a valid `x-request-id` header, or else a new id. */
export function createRequestIds(): (clientId: unknown) => string {
  // A random prefix per process and a counter, which cost a fraction of a random id per request.
  const prefix = randomBytes(6).toString('base64url');
  let count = 0;
  return (clientId) => {
    if (typeof clientId === 'string' && validId.test(clientId)) return clientId;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
