import { Pool } from 'undici';
import { type CircuitBreakerOptions, createCircuits } from '../protection/circuit-breaker.ts';
import { createRetries } from '../protection/retries.ts';
import type { CallObserver } from './call-observer.ts';
import { type Calls, createCalls } from './execute-call.ts';
import { ServiceClock } from './service-clock.ts';
import { createJsonTransport, createStreamTransport } from './transport.ts';

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
  /** How long a stream may take from its first byte to its last. */
  streamTimeoutMs: number;
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

/** Calls to REST, and the connections that they are made over. */
export interface RestClient extends Calls {
  /** The time by REST's own clock, in milliseconds since 1970; undefined where no response has told it yet. */
  serviceTime(): number | undefined;
  /** Which kinds of calls are not made at present, as most have failed: `GET /v1/orders`. */
  openCircuits(): string[];
  /** Closes every connection at once. Calls that are still under way fail. */
  close(): Promise<void>;
}

/** Opens nothing until the first call. */
export function createRestClient(options: RestClientOptions): RestClient {
  const { connections, streamConnections = connections, streamTimeoutMs } = options;
  // The deadline of a call is the client's own, and covers all of its response.
  const pool = createPool(options, connections, 0);
  // A stream lasts for as long as its taker is slow, and waits in no queue: it must not keep other calls from being made.
  const streamPool = createPool(options, streamConnections, options.callTimeoutMs);
  const serviceClock = new ServiceClock();
  const circuits = createCircuits(options.circuitBreaker);
  const calls = createCalls(
    { circuits, retries: createRetries({ maxRetries: options.retries }), observer: options.observer },
    createJsonTransport(pool, { ...options, serviceClock }),
    createStreamTransport(streamPool, options, streamTimeoutMs),
  );
  return {
    ...calls,
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
