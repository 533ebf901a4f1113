/** The room that all tenants together have for answers that are kept for later operations. */
export interface Room {
  /** How many bytes one tenant may take, which is for the tenant's own keeper to hold to. */
  readonly maxBytesPerTenant: number;
  /** Takes up room until it is given up, or needed for what is used more: `drop` is told then. */
  take(bytes: number, drop: () => void): Place;
}

/** Room that is taken up. */
export interface Place {
  readonly bytes: number;
  /** Counts as the last one used, so that others go before it. */
  use(): void;
  giveUp(): void;
}

export interface RoomOptions {
  /** Of JSON as it was read, 64 MiB when left out; the objects of it take up to about twice that. */
  maxBytes?: number;
  /** Of one tenant; an eighth of it all when left out, so that no tenant alone pushes out what all others keep. */
  maxBytesPerTenant?: number;
}

const mebibyte = 2 ** 20;

/** The room of a process. Of what is in it, what was used longest ago goes first, whoever's it is. */
export function createRoom({
  maxBytes = 64 * mebibyte,
  maxBytesPerTenant = maxBytes / 8,
}: RoomOptions = {}): Room {
  // In the order in which they were last used, each with what drops it.
  const places = new Map<Place, () => void>();
  let taken = 0;

  function giveUp(place: Place): void {
    if (places.delete(place)) taken -= place.bytes;
  }

  return {
    maxBytesPerTenant,
    take(bytes, drop) {
      const place: Place = {
        bytes,
        use() {
          if (places.delete(place)) places.set(place, drop);
        },
        giveUp: () => giveUp(place),
      };
      places.set(place, drop);
      taken += bytes;
      for (const [oldest, dropOldest] of places) {
        if (taken <= maxBytes) break;
        giveUp(oldest);
        dropOldest();
      }
      return place;
    },
  };
}
