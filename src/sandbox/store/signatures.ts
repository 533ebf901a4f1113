import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs what the sandbox hands out and wants back unchanged: page tokens and label URLs. */
export interface Signatures {
  /** 16 bytes over the parts, in order. */
  sign(...parts: readonly (string | number)[]): Buffer;
  verify(signature: Buffer, ...parts: readonly (string | number)[]): boolean;
}

/** `secret` is asked for at the first signature, since a new database has none before it is filled. */
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
