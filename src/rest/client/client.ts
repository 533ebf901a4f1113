// Assembles the REST client: connection pools, circuit breakers, retries and transports.

import type { Dispatcher } from 'undici';
import { createDispatcher, type ProxyOptions } from '../dispatcher.ts';
import { type CircuitBreakerOptions, createCircuits } from '../protection/circuit-breaker.ts';
import { createRetries } from '../protection/retries.ts';
import type { CallObserver } from './call-observer.ts';
import { type Calls, createCalls } from './execute-call.ts';
import { ServiceClock } from './service-clock.ts';
import { createJsonTransport, createStreamTransport } from './transport.ts';

/** The settings of `createRestClient`. */
export interface RestClientOptions {
  /** The base address of REST. Its path, if any, is prefixed to the path of every call. */
  baseUrl: URL;
  /** At most this number of open sockets to REST, not counting sockets of streams. */
  connections: number;
  /** At most this number of open sockets for streams. */
  streamConnections: number;
  /** The time limit for opening a connection. Default: 2,000, because REST is either nearby or unreachable. */
  connectTimeoutMs?: number;
  /**
   * The time limit from sending a call to the last byte of the response. For a stream: to the first byte, then
   * between bytes.
   */
  callTimeoutMs: number;
  /** The time limit from the first to the last byte of a stream. */
  streamTimeoutMs: number;
  /** The largest accepted response body, in bytes after decompression. */
  maxResponseBytes: number;
  /** A read is retried at most this number of times. */
  retries: number;
  /** Whether to request compressed responses. Off by default; compressed responses are accepted in either case. */
  compression?: boolean;
  /** When the circuit breakers open. Optional: `createCircuits` has defaults. */
  circuitBreaker?: CircuitBreakerOptions;
  /** Optional: the proxies for REST. */
  proxy?: ProxyOptions | undefined;
  /** Optional: observes every call. */
  observer?: CallObserver | undefined;
}

/** Sends calls to REST, and owns the connections. */
export interface RestClient extends Calls {
  /**
   * The time by REST's clock, in milliseconds since 1970. Undefined until a response with a `date` header has
   * arrived.
   */
  serviceTime(): number | undefined;
  /** The kinds of calls whose circuit breaker is open, such as `GET /v1/orders`. */
  openCircuits(): string[];
  /** Closes all connections immediately. Calls in progress fail. */
  close(): Promise<void>;
}

/** Creates a client for one REST service. The client opens no connection before the first call. */
export function createRestClient(options: RestClientOptions): RestClient {
  const { connections, streamConnections, streamTimeoutMs } = options;
  // undici's body timeout is off: the transport has its own time limit for the whole response.
  const pool = createPool(options, connections, 0);
  // A stream takes no slot and lasts as long as its reader. A pool for streams alone keeps connections free for other
  // calls.
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
  { baseUrl, connectTimeoutMs = 2_000, proxy }: RestClientOptions,
  connections: number,
  bodyTimeoutMs: number,
): Dispatcher {
  return createDispatcher(baseUrl, {
    connections,
    connectTimeoutMs,
    headersTimeoutMs: 0,
    bodyTimeoutMs,
    proxy,
  });
}
