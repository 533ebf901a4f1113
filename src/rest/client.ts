import { Pool } from 'undici';
import { type Asker, asking } from './asking.ts';
import { givenUp } from './attempt.ts';
import { isRead, type RestCall, routeOf } from './call.ts';
import type { CallObserver } from './call-observer.ts';
import type { Caller } from './caller.ts';
import type { Cancellation } from './cancellation.ts';
import type { CircuitBreakerOptions } from './circuit-breaker.ts';
import { createCircuits } from './circuits.ts';
import { CircuitOpenError, OverloadedError } from './errors.ts';
import { createJsonExchange, type Exchange } from './exchange.ts';
import { outcomeOf } from './failure.ts';
import { inTurn, paused } from './giving-up.ts';
import { enter, type LedgerEntry } from './ledger.ts';
import type { Away } from './queued-call.ts';
import { createRetries } from './retries.ts';
import { createStreamExchange } from './stream-exchange.ts';
import type { RestStream } from './streamed-answer.ts';

export interface RestClientOptions {
  /** Where REST is; a path in it comes before every call's path. */
  baseUrl: URL;
  /** Sockets kept open to REST at most, those of streams aside. */
  connections: number;
  /** The same for streams; as many as for other calls when left out. */
  streamConnections?: number;
  connectTimeoutMs: number;
  /** From sending a call to the last byte of its answer; for a stream to its first byte, then between bytes. */
  callTimeoutMs: number;
  /** How long a stream may take from its first byte to its last; a minute when left out. */
  streamTimeoutMs?: number;
  /** What one answer may weigh, after it is decompressed. */
  maxResponseBytes: number;
  /** How often a read is tried again at most. */
  retries: number;
  /** Whether REST is asked for compressed answers; not when left out. Those that come compressed unasked are read too. */
  compression?: boolean;
  /** When calls of a kind are no longer made; the standards when left out. */
  circuitBreaker?: CircuitBreakerOptions;
  observer?: CallObserver | undefined;
}

/** A turn of a read, in which it is made for one or several. */
export interface Turn {
  /** Gives the read up. */
  signal: Cancellation;
  /** Who asks; of when the call was queued, as its turn may come while another operation runs. */
  asker: Asker | undefined;
  /** Leaves its place to others; undefined where it has none. */
  away?(...[pause, signal]: Parameters<Away>): Promise<void>;
  /** Is told the call's entry in the ledger when it has left its queue. */
  onEnter?(entry: LedgerEntry): void;
}

/** The connections to REST, and what a call is: a deadline, the caller's bearer, an answer or an error. */
export interface RestClient {
  /**
   * The JSON of any 2xx answer.
   * @throws StatusError and the network's family of errors; where the call was not made, CircuitOpenError,
   * OverloadedError and AbortedError.
   */
  json(call: RestCall, caller: Caller): Promise<unknown>;
  /** The same for a read whose turn has come, on the account of `caller`. */
  read(call: RestCall, caller: Caller, turn: Turn): Promise<unknown>;
  /**
   * The body of any 2xx answer as it arrives, once its first bytes are there. The taker reads it to its end or destroys it.
   * @throws as `json` does, and where it is empty.
   */
  stream(call: RestCall, caller: Caller): Promise<RestStream>;
  /** Which kinds of calls are not made at present, as most have failed: `GET /v1/orders`. */
  openCircuits(): string[];
  /** Ends every connection at once. Calls that are still under way fail: reads for later, which there is none of, among them. */
  close(): Promise<void>;
}

/** Opens nothing until the first call. */
export function createRestClient(options: RestClientOptions): RestClient {
  const { connections, observer } = options;
  const { streamConnections = connections, streamTimeoutMs = 60_000 } = options;
  // The deadline of a call is the client's own, and covers all of its answer.
  const pool = createPool(options, connections, 0);
  // A stream lasts for as long as its taker is slow, and waits in no queue: it must not keep other calls from being made.
  const streamPool = createPool(options, streamConnections, options.callTimeoutMs);
  const exchange = createJsonExchange(pool, options);
  const streamExchange = createStreamExchange(streamPool, options, streamTimeoutMs);
  const circuits = createCircuits(options.circuitBreaker);
  const retries = createRetries({ maxRetries: options.retries });

  /** Makes a call whose turn has come: a read up to so many times as it may be tried again, a write once. */
  async function make<Answer>(
    send: Exchange<Answer>,
    call: RestCall,
    caller: Caller,
    turn: Turn,
  ): Promise<Answer> {
    const { tenant, ledger } = caller;
    const { signal } = turn;
    // First, as a call whose caller has given up in the queue is none, and not for the ledger.
    if (signal.aborted) throw givenUp(call, signal);
    const circuit = circuits.of(call.method, routeOf(call));
    let admission = circuit.admit(tenant);
    if (admission === undefined) throw new CircuitOpenError(call, circuit.retryAfterMs());
    const entry = enter(ledger, call, turn.asker);
    turn.onEnter?.(entry);
    const observed = observer?.left(entry, ledger);
    if (isRead(call)) retries.begin();
    let triedAt = entry.startMs;
    try {
      for (;;) {
        try {
          const answer = await send(call, caller, signal, entry, observed);
          circuit.note(tenant, admission, 'answered');
          return answer;
        } catch (error) {
          const silentMs = entry.status === undefined ? ledger.elapsedMs() - triedAt : 0;
          circuit.note(tenant, admission, outcomeOf(error, silentMs));
          const pauseMs = isRead(call)
            ? retries.pauseMs(error, tenant, entry.retries, caller.deadline.remainingMs())
            : undefined;
          if (pauseMs === undefined) throw error;
          if (pauseMs > 0) {
            const pause = () => paused(call, pauseMs, signal);
            // Others have its place meanwhile. Where they leave it none to come back to, it has failed as it has.
            await (turn.away?.(pause, signal) ?? pause()).catch((thrown: unknown) => {
              throw thrown instanceof OverloadedError ? error : thrown;
            });
          }
          admission = circuit.admit(tenant);
          if (admission === undefined) throw error;
          entry.retries += 1;
          entry.status = undefined;
          triedAt = ledger.elapsedMs();
        }
      }
    } finally {
      entry.durationMs = ledger.elapsedMs() - entry.startMs;
      observer?.ended(entry, ledger);
    }
  }

  return {
    async json(call, caller) {
      const { signal } = caller;
      const asker = asking.getStore();
      const inPlace = (away: Away) => make(exchange, call, caller, { signal, asker, away });
      if (isRead(call)) return caller.schedule(call, inPlace, signal);
      try {
        return await inTurn(call, caller, inPlace);
      } finally {
        caller.tenant.writes += 1;
      }
    },
    read: (call, caller, turn) => make(exchange, call, caller, turn),
    stream: (call, caller) =>
      make(streamExchange, call, caller, { signal: caller.signal, asker: asking.getStore() }),
    openCircuits: circuits.open,
    async close() {
      await Promise.all([pool.destroy(), streamPool.destroy()]);
    },
  };
}

function createPool(
  { baseUrl, connectTimeoutMs }: RestClientOptions,
  connections: number,
  bodyTimeoutMs: number,
): Pool {
  return new Pool(baseUrl.origin, {
    connections,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    // For the pauses within a stream; none where it is 0.
    bodyTimeout: bodyTimeoutMs,
  });
}
