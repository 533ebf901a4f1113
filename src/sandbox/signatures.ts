import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs what the sandbox hands out and wants back unchanged: page tokens and label URLs. */
export interface Signatures {
  /** 16 bytes over the parts, in order. */
  sign(...parts: readonly (string | number)[]): Buffer;
  verify(signature: Buffer, ...parts: readonly (string | number)[]): boolean;
}

export function createSignatures(secret: () => string): Signatures {
  const sign: Signatures['sign'] = (...parts) =>
    createHmac('sha256', secret()).update(JSON.stringify(parts)).digest().subarray(0, 16);
  return {
    sign,
    verify: (signature, ...parts) => signature.length === 16 && timingSafeEqual(signature, sign(...parts)),
  };
}
