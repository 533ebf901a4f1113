import { Pool } from 'undici';
import { asking } from './asking.ts';
import { isRead, type RestCall } from './call.ts';
import { makeInTurn, type Turn } from './call-in-turn.ts';
import type { CallObserver } from './call-observer.ts';
import type { Caller } from './caller.ts';
import { type CircuitBreakerOptions, createCircuits } from './circuit-breaker.ts';
import { createJsonExchange, type Exchange } from './exchange.ts';
import { createRetries } from './retries.ts';
import { ServiceClock } from './service-clock.ts';
import { createStreamExchange } from './stream-exchange.ts';
import type { StreamedResponse } from './streamed-response.ts';
import { endJoining } from './tenant.ts';

export interface RestClientOptions {
  /** Where REST is; a path in it comes before every call's path. */
  baseUrl: URL;
  /** Sockets kept open to REST at most, those of streams aside. */
  connections: number;
  /** The same for streams; as many as for other calls when left out. */
  streamConnections?: number;
  /** How long a connection may take to open; 2 seconds when left out, as REST is near or not there. */
  connectTimeoutMs?: number;
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

/** The connections to REST, and what a call is: a deadline, the caller's bearer, an answer or an error. */
export interface RestClient {
  /**
   * The JSON of any 2xx answer.
   * @throws StatusError and the network's family of errors; where the call was not made, CircuitOpenError,
   * OverloadedError and AbortedError.
   */
  json(call: RestCall, caller: Caller): Promise<unknown>;
  /** The same for a read whose turn has come, on the account of `caller`. The turn is told what came of it. */
  read(call: RestCall, caller: Caller, turn: Turn<unknown>): void;
  /**
   * The body of any 2xx answer as it arrives, once its first bytes are there. The taker reads it to its end or destroys it.
   * @throws as `json` does, and where it is empty.
   */
  stream(call: RestCall, caller: Caller): Promise<StreamedResponse>;
  /** The time by REST's own clock, in milliseconds since 1970; undefined where no answer has told it yet. */
  serviceTime(): number | undefined;
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
  const serviceClock = new ServiceClock();
  const exchange = createJsonExchange(pool, { ...options, serviceClock });
  const streamExchange = createStreamExchange(streamPool, options, streamTimeoutMs);
  const circuits = createCircuits(options.circuitBreaker);
  const policy = { circuits, retries: createRetries({ maxRetries: options.retries }), observer };

  function make<Answer>(
    send: Exchange<Answer>,
    call: RestCall,
    caller: Caller,
    turn: Omit<Turn<Answer>, 'answered' | 'failed'>,
  ): Promise<Answer> {
    return new Promise((answered, failed) => {
      makeInTurn(policy, send, call, caller, { ...turn, answered, failed });
    });
  }

  return {
    async json(call, caller) {
      const { signal } = caller;
      const asker = asking.getStore();
      try {
        const slot = await caller.queue.slotFor(call, signal);
        try {
          const away: Turn<unknown>['away'] = (pause, waiting) => slot.away(pause, waiting);
          return await make(exchange, call, caller, { signal, asker, away });
        } finally {
          slot.release();
        }
      } finally {
        if (!isRead(call)) endJoining(caller.tenant);
      }
    },
    read: (call, caller, turn) => makeInTurn(policy, exchange, call, caller, turn),
    stream: (call, caller) =>
      make(streamExchange, call, caller, { signal: caller.signal, asker: asking.getStore() }),
    serviceTime: () => serviceClock.now(),
    openCircuits: circuits.open,
    async close() {
      await Promise.all([pool.destroy(), streamPool.destroy()]);
    },
  };
}

function createPool(
  { baseUrl, connectTimeoutMs = 2_000 }: RestClientOptions,
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
