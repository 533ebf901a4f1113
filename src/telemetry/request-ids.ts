import { randomBytes } from 'node:crypto';

/** By which a client may name its request; anything else could forge lines or fill them. */
const fit = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives each request its id: what is given in its header `x-request-id` where that is fit, or a new one. */
export function createRequestIds(): (given: unknown) => string {
  // Random once and then counted: unlikely to meet another process's, at a fraction of what a random id costs.
  const prefix = randomBytes(6).toString('base64url');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && fit.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
