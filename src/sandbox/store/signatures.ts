import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs page tokens and label URLs, which clients must return unchanged. */
export interface Signatures {
  /** The 16-byte signature of the parts, in order. */
  sign(...parts: readonly (string | number)[]): Buffer;
  verify(signature: Buffer, ...parts: readonly (string | number)[]): boolean;
}

/** Makes the signatures of a database. @param secret called at the first signature, because a new database has no secret before `create` */
export function createSignatures(secret: () => string): Signatures {
  let key: string | undefined;
  const sign: Signatures['sign'] = (...parts) => {
    key ??= secret();
    return createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, 16);
  };
  return {
    sign,
    verify: (signature, ...parts) => signature.length === 16 && timingSafeEqual(signature, sign(...parts)),
  };
}
