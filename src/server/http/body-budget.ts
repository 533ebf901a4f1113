/** How many bytes of bodies that are not here whole yet are held, of all requests together. */
export interface BodyBudget {
  /**
   * Counts so many more bytes of a body of which `held` are counted already.
   * @returns whether there is room for them; where there is none, they are not counted.
   */
  take(bytes: number, held: number): boolean;
  /** Gives back all that was counted for a body. */
  free(bytes: number): void;
}

/** How many bytes one process holds at most: 64 bodies of the largest size that is taken by default. */
export const maxBodyBytesAtOnce = 67_108_864;

// Nearly all requests are smaller, and none of these is to suffer from those who send much and never end.
const alwaysTakenBytes = 16_384;

export function createBodyBudget(maxBytes: number): BodyBudget {
  let taken = 0;
  return {
    take(bytes, held) {
      if (taken + bytes > maxBytes && held + bytes > alwaysTakenBytes) return false;
      taken += bytes;
      return true;
    },
    free(bytes) {
      taken -= bytes;
    },
  };
}
