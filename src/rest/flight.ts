import type { Asker } from './asking.ts';
import { queryString, type RestCall } from './call.ts';
import type { Turn } from './call-in-turn.ts';
import type { Caller } from './caller.ts';
import { type Cancellation, Canceller } from './cancellation.ts';
import type { RestClient } from './client.ts';
import type { LedgerEntry } from './ledger.ts';
import { Passenger } from './passenger.ts';
import type { Tenant } from './tenant.ts';
import { joinableMs, type Shareable, type UnderWay } from './under-way.ts';

const nobody: readonly Passenger[] = [];

/**
 * A read that operations of a tenant want. Each that asks before it has left queues for it itself, so that none waits in
 * the queue of another; whoever's turn comes first makes the call for all. A class, as each read makes one.
 */
export class Flight implements Turn<unknown>, Shareable {
  readonly call: RestCall;
  readonly tenantId: string;
  /** Ends the call once nobody waits for it. */
  readonly signal = new Canceller();
  /** Of the operation that makes the call; undefined until it has left. */
  entry: LedgerEntry | undefined;
  asker: Asker | undefined;
  readonly #client: RestClient;
  /** How many writes had ended when it was asked for: what is asked for after another must not get its answer. */
  readonly #writes: number;
  readonly #flights: UnderWay<Flight>;
  #key: string | undefined;
  #passengers: readonly Passenger[] = nobody;
  /** In whose turn the call is made; undefined until it has left. */
  #maker: Passenger | undefined;
  hasLeft = false;

  constructor(client: RestClient, call: RestCall, tenant: Tenant, flights: UnderWay<Flight>) {
    this.call = call;
    this.tenantId = tenant.id;
    this.#client = client;
    this.#writes = tenant.writes;
    this.#flights = flights;
  }

  get key(): string {
    this.#key ??= `${this.#writes} ${this.call.path}${queryString(this.call)}`;
    return this.#key;
  }

  /** Whether its answer will do for an operation that asks now. */
  get isJoinable(): boolean {
    if (this.#maker === undefined || this.entry === undefined) return true;
    return this.#maker.caller.ledger.elapsedMs() - this.entry.startMs <= joinableMs;
  }

  /** Waits for the answer, and makes the call where the turn of this operation comes first. */
  board(caller: Caller): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const passenger = new Passenger(this, caller, resolve, reject);
      // There is one as a rule, and an array that grows takes room for 17.
      this.#passengers = [...this.#passengers, passenger];
      caller.signal.addEventListener('abort', passenger);
      if (this.hasLeft) passenger.follow();
      else caller.queue(passenger);
    });
  }

  /** The call is made for all, in the turn and on the account of `maker`. */
  leave(maker: Passenger): void {
    this.hasLeft = true;
    this.#maker = maker;
    this.asker = maker.asker;
    try {
      maker.caller.left();
      for (const passenger of this.#passengers) if (passenger !== maker) passenger.follow();
      this.#client.read(this.call, maker.caller, this);
    } catch (error) {
      // Nothing is to throw here; if it does, no turn may be left open, as all others wait for it.
      this.failed(error);
    }
  }

  away(pause: () => Promise<void>, signal: Cancellation): Promise<void> {
    return this.#maker?.pauseAway(pause, signal) ?? pause();
  }

  answered(answer: unknown): void {
    for (const passenger of this.#land()) passenger.resolve(answer);
  }

  failed(error: unknown): void {
    for (const passenger of this.#land()) passenger.reject(error);
  }

  /** One waits no more, and the call ends where nobody else does. @returns whether it did wait. */
  disembark(passenger: Passenger): boolean {
    if (!this.#passengers.includes(passenger)) return false;
    this.#passengers = this.#passengers.filter((each) => each !== passenger);
    if (this.#passengers.length === 0) {
      this.#flights.remove(this);
      this.signal.abort(passenger.caller.signal.reason);
    }
    return true;
  }

  /** The call has ended. @returns who is to be told. */
  #land(): readonly Passenger[] {
    // Before anybody is told, so that who asks for the same then asks anew.
    this.#flights.remove(this);
    const passengers = this.#passengers;
    for (const passenger of passengers) passenger.arrive();
    this.#maker?.endTurn();
    // What the map of flights has outgrown may hold this one until there is a Map anew.
    this.#passengers = nobody;
    this.#maker = undefined;
    this.entry = undefined;
    return passengers;
  }
}
