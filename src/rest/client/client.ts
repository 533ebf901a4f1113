import { createDefer } from '../../concurrency/event-loop-round.ts';
import { StepQueue } from '../../concurrency/step-queue.ts';
import { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import type { RestCall } from '../call.ts';
import { createDispatcher, type ProxyOptions } from '../connection-pools.ts';
import { type CircuitBreakerOptions, createCircuits } from '../protection/circuit-breaker.ts';
import { createRetries } from '../protection/retries.ts';
import { ServiceClock } from '../service-clock.ts';
import type { CallContext } from './call-context.ts';
import type { CallObserver } from './call-log.ts';
import type { ClientState } from './pending-call.ts';
import { sendCall, streamCall } from './send-call.ts';

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
  observers?: readonly CallObserver[] | undefined;
}

export type RestClient = ReturnType<typeof createRestClient>;

/**
 * Creates a client for one REST service, which owns the connections. It opens none before the first call. `send` and
 * `stream` do what `sendCall` and `streamCall` describe.
 */
export function createRestClient(options: RestClientOptions) {
  const { baseUrl, connections, streamConnections, callTimeoutMs, connectTimeoutMs = 2_000 } = options;
  // undici's body timeout is off for calls: the client has its own time limit for the whole response.
  const limits = { connectTimeoutMs, headersTimeoutMs: 0, bodyTimeoutMs: 0, proxy: options.proxy };
  const streamLimits = { ...limits, connections: streamConnections, bodyTimeoutMs: callTimeoutMs };
  const client: ClientState = {
    origin: baseUrl.origin,
    basePath: baseUrl.pathname.replace(/\/$/, ''),
    restHost: baseUrl.hostname,
    pool: createDispatcher(baseUrl, { ...limits, connections }),
    streamPool: createDispatcher(baseUrl, streamLimits),
    circuits: createCircuits(options.circuitBreaker),
    retries: createRetries({ maxRetries: options.retries }),
    observers: options.observers ?? [],
    serviceClock: new ServiceClock(),
    timeouts: new TimeoutQueue(callTimeoutMs),
    bodyTimeouts: new TimeoutQueue(options.streamTimeoutMs),
    compression: options.compression ?? false,
    defer: createDefer(),
    largeBodies: new StepQueue('ending'),
  };
  return {
    send: (call: RestCall, callContext: CallContext) => sendCall(client, call, callContext),
    stream: (call: RestCall, callContext: CallContext) => streamCall(client, call, callContext),
    serviceTime: (): number | undefined => client.serviceClock.now(),
    openCircuits: client.circuits.open,
    /** Closes all connections immediately. Calls in progress fail. */
    async close(): Promise<void> {
      await Promise.all([client.pool.destroy(), client.streamPool.destroy()]);
    },
  };
}
