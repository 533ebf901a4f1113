import type { Owner } from '../../concurrency/owner.ts';
import { type Excess, Usage } from '../../concurrency/usage.ts';
import type { LiveStream } from './stream.ts';

/** Streams get their heartbeats in turn: each slot after a second, so that no turn writes to all of them. */
const slotCount = 12;
const slotMs = 1_000;

/** A stream ends at this age, or up to a tenth later, so that streams which began together do not end together. */
const maxAgeMs = 3_600_000;

/** A stream keeps its operation in memory. With each 1,024 characters, it counts as one stream more. */
const charactersPerPlace = 1_024;

interface Place {
  owner: Owner;
  weight: number;
  slot: Set<LiveStream>;
  endsAtMs: number;
}

/** The open streams of the process: their number, their heartbeats, and their end. */
export class OpenStreams {
  readonly #usage: Usage;
  readonly #places = new Map<LiveStream, Place>();
  readonly #slots = Array.from({ length: slotCount }, () => new Set<LiveStream>());
  #slot = 0;
  #timer: NodeJS.Timeout | undefined;
  #shutdownAtMs: number | undefined;

  /** @param maxConnections of the server. Streams take half of them, and those of one token a quarter. */
  constructor(maxConnections: number) {
    const total = Math.max(1, Math.floor(maxConnections / 2));
    this.#usage = new Usage(total, Math.ceil(total / 2));
  }

  get size(): number {
    return this.#places.size;
  }

  /**
   * The limit that leaves no room for another stream.
   * @param characters of its document and variables
   */
  excess(owner: Owner, characters: number): Excess | undefined {
    return this.#usage.excess(owner, weightOf(characters));
  }

  /** @param characters of its document and variables */
  add(stream: LiveStream, owner: Owner, characters: number): void {
    const weight = weightOf(characters);
    const slot = this.#slots.reduce((least, other) => (other.size < least.size ? other : least));
    slot.add(stream);
    const endsAtMs = performance.now() + maxAgeMs * (1 + Math.random() / 10);
    this.#places.set(stream, { owner, weight, slot, endsAtMs });
    this.#usage.add(owner, weight);
    this.#timer ??= setInterval(() => this.#beat(), slotMs).unref();
    if (this.#shutdownAtMs !== undefined) breakAfter(stream, this.#shutdownAtMs - performance.now());
  }

  /** Counts an open stream to another owner. */
  setOwner(stream: LiveStream, owner: Owner): void {
    const place = this.#places.get(stream);
    if (place === undefined) return;
    this.#usage.add(place.owner, -place.weight);
    this.#usage.add(owner, place.weight);
    place.owner = owner;
  }

  remove(stream: LiveStream): void {
    const place = this.#places.get(stream);
    if (place === undefined) return;
    this.#places.delete(stream);
    place.slot.delete(stream);
    this.#usage.add(place.owner, -place.weight);
    if (this.#places.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams within these milliseconds, spread over the time: their clients come again elsewhere. */
  shutDown(withinMs: number): void {
    this.#shutdownAtMs = performance.now() + withinMs;
    for (const stream of [...this.#places.keys()]) breakAfter(stream, withinMs * Math.random());
  }

  #beat(): void {
    this.#slot = (this.#slot + 1) % slotCount;
    const now = performance.now();
    for (const stream of this.#slots[this.#slot] ?? []) {
      const isOld = now >= (this.#places.get(stream)?.endsAtMs ?? 0);
      if (isOld) stream.break('age');
      else stream.beat();
    }
  }
}

function weightOf(characters: number): number {
  return 1 + Math.floor(characters / charactersPerPlace);
}

function breakAfter(stream: LiveStream, ms: number): void {
  if (ms > 0) setTimeout(() => stream.break('shutdown'), ms);
  else stream.break('shutdown');
}
