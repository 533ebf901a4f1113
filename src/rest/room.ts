import { type InLine, Line } from './line.ts';

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
  return new SharedRoom(maxBytes, maxBytesPerTenant);
}

class SharedRoom implements Room {
  readonly maxBytesPerTenant: number;
  readonly #maxBytes: number;
  // In the order in which they were last used. A line, as a Map out of which entries go makes itself anew again and again.
  readonly #places = new Line<TakenPlace>();
  #taken = 0;

  constructor(maxBytes: number, maxBytesPerTenant: number) {
    this.#maxBytes = maxBytes;
    this.maxBytesPerTenant = maxBytesPerTenant;
  }

  take(bytes: number, drop: () => void): Place {
    const place = new TakenPlace(this, bytes, drop);
    this.#places.add(place);
    this.#taken += bytes;
    while (this.#taken > this.#maxBytes && this.#places.first !== undefined) {
      const oldest = this.#places.first;
      oldest.giveUp();
      oldest.drop();
    }
    return place;
  }

  use(place: TakenPlace): void {
    this.#places.moveLast(place);
  }

  leave(place: TakenPlace): void {
    this.#places.remove(place);
    this.#taken -= place.bytes;
  }
}

class TakenPlace implements Place, InLine<TakenPlace> {
  before: TakenPlace | undefined;
  after: TakenPlace | undefined;
  readonly bytes: number;
  readonly drop: () => void;
  #room: SharedRoom | undefined;

  constructor(room: SharedRoom, bytes: number, drop: () => void) {
    this.#room = room;
    this.bytes = bytes;
    this.drop = drop;
  }

  use(): void {
    this.#room?.use(this);
  }

  /** It may be said again. */
  giveUp(): void {
    this.#room?.leave(this);
    this.#room = undefined;
  }
}
