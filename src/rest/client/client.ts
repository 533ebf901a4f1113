import { createDefer } from '../../concurrency/event-loop-round.ts';
import { StepQueue } from '../../concurrency/step-queue.ts';
import { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import type { RestCall } from '../call.ts';
import { createDispatcher, type ProxyOptions } from '../dispatcher.ts';
import { type CircuitBreakerOptions, createCircuits } from '../protection/circuit-breaker.ts';
import { createRetries } from '../protection/retries.ts';
import { ServiceClock } from '../service-clock.ts';
import type { CallContext } from './call-context.ts';
import type { AttemptOutcome, CallObserver } from './call-log.ts';
import type { StreamedResponse } from './receive-response.ts';
import { type ClientState, sendCall, streamCall } from './send-call.ts';

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
  streamTimeoutMs: number;
  retries: number;
  /** Whether to request compressed responses. Off by default; compressed responses are accepted in either case. */
  compression?: boolean;
  circuitBreaker?: CircuitBreakerOptions;
  proxy?: ProxyOptions | undefined;
  observer?: CallObserver | undefined;
  /** Called with the outcome of each attempt of a call. Must not throw. */
  onAttempt?: ((attempt: AttemptOutcome) => void) | undefined;
}

/** Sends calls to REST, and owns the connections. */
export interface RestClient {
  /** Sends a read or write, as `sendCall` describes. @returns the parsed JSON of a 2xx response. */
  send(call: RestCall, callContext: CallContext): Promise<unknown>;
  /** Sends a read of a streamed body, as `streamCall` describes. */
  stream(call: RestCall, callContext: CallContext): Promise<StreamedResponse>;
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
  const { baseUrl, connections, streamConnections, callTimeoutMs, retries } = options;
  const { observer, compression = false, connectTimeoutMs = 2_000, proxy } = options;
  const limits = { connectTimeoutMs, headersTimeoutMs: 0, proxy };
  // undici's body timeout is off: the client has its own time limit for the whole response.
  const pool = createDispatcher(baseUrl, { ...limits, connections, bodyTimeoutMs: 0 });
  const streamPool = createDispatcher(baseUrl, {
    ...limits,
    connections: streamConnections,
    bodyTimeoutMs: callTimeoutMs,
  });
  const circuits = createCircuits(options.circuitBreaker);
  const client: ClientState = {
    origin: baseUrl.origin,
    basePath: baseUrl.pathname.replace(/\/$/, ''),
    restHost: baseUrl.hostname,
    pool,
    streamPool,
    circuits,
    retries: createRetries({ maxRetries: retries }),
    observer,
    onAttempt: options.onAttempt,
    serviceClock: new ServiceClock(),
    timeouts: new TimeoutQueue(callTimeoutMs),
    bodyTimeouts: new TimeoutQueue(options.streamTimeoutMs),
    compression,
    defer: createDefer(),
    largeBodies: new StepQueue(),
  };
  return {
    send: (call, callContext) => sendCall(client, call, callContext),
    stream: (call, callContext) => streamCall(client, call, callContext),
    serviceTime: () => client.serviceClock.now(),
    openCircuits: circuits.open,
    async close() {
      await Promise.all([pool.destroy(), streamPool.destroy()]);
    },
  };
}
