import { parseJson } from '../../base/json-object.ts';
import { createDefer, createDeferAfterPromises } from '../../concurrency/defer.ts';
import { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import { callRoute, describeCall, isRead, type RestCall } from '../call.ts';
import { createDispatcher, type DispatcherOptions } from '../connection-pools.ts';
import { CircuitOpenError, InvalidResponseError } from '../errors.ts';
import { type CircuitBreakerOptions, createCircuits } from '../protection/circuit-breaker.ts';
import { createRetries } from '../protection/retries.ts';
import { CallAttempts } from './call-attempts.ts';
import type { CallContext } from './call-context.ts';
import type { CallObserver } from './call-log.ts';
import type { ClientState } from './client-state.ts';
import type { StreamedResponse } from './http-exchange.ts';
import { ServiceClock } from './service-clock.ts';

export interface RestClientOptions extends Pick<DispatcherOptions, 'connectTimeoutMs' | 'proxy'> {
  /** The base address of REST. Its path, if any, is prefixed to the path of every call. */
  baseUrl: URL;
  /** At most this number of open sockets to REST, not counting sockets of streams. */
  connections: number;
  /** At most this number of open sockets for streams. */
  streamConnections: number;
  /** The time limit from sending a call to the last byte. For a stream: to the first byte, then between bytes. */
  callTimeoutMs: number;
  streamTimeoutMs: number;
  retries: number;
  /** Whether to request compressed responses. Off by default; compressed responses are accepted in either case. */
  compression?: boolean;
  circuitBreaker?: CircuitBreakerOptions;
  observers?: readonly CallObserver[] | undefined;
}

export type RestClient = ReturnType<typeof createRestClient>;

/** A client for one REST service, which owns the connections. It opens none before the first call. */
export function createRestClient(options: RestClientOptions) {
  const { baseUrl, connections, callTimeoutMs, connectTimeoutMs, proxy } = options;
  const limits = { connections, connectTimeoutMs, proxy };
  const streamLimits = { ...limits, connections: options.streamConnections, bodyTimeoutMs: callTimeoutMs };
  const client: ClientState = {
    origin: baseUrl.origin,
    basePath: baseUrl.pathname.replace(/\/$/, ''),
    restHost: baseUrl.hostname,
    isClosed: false,
    pool: createDispatcher(baseUrl, limits),
    streamPool: createDispatcher(baseUrl, streamLimits),
    circuits: createCircuits(options.circuitBreaker),
    retries: createRetries(options.retries),
    observers: options.observers ?? [],
    serviceClock: new ServiceClock(),
    timeouts: new TimeoutQueue(callTimeoutMs),
    bodyTimeouts: new TimeoutQueue(options.streamTimeoutMs),
    compression: options.compression ?? false,
    deferParsing: createDefer(),
    deferSending: createDeferAfterPromises(),
  };
  return {
    /** See `sendCall`. */
    send: (call: RestCall, callContext: CallContext) => sendCall(client, call, callContext),
    /** Sends a read without a slot. @returns a 2xx response once the first bytes have arrived. @throws like `send` */
    stream: (call: RestCall, callContext: CallContext) => new StreamCall(client, call, callContext).send(),
    /**
     * For a workflow of several calls, before its first call: checks that a later call would be sent now, so that the
     * earlier calls are not sent in vain. @throws CircuitOpenError if the call would not be sent.
     */
    expectPermit(call: RestCall, { tenant }: CallContext): void {
      const circuit = client.circuits.of(`${call.method} ${callRoute(call)}`);
      if (circuit.refuses(tenant)) throw new CircuitOpenError(call, circuit.retryAfterMs());
    },
    serviceTime: (): number | undefined => client.serviceClock.now(),
    openCircuits: client.circuits.open,
    /** Closes all connections immediately. Calls in progress fail. */
    async close(): Promise<void> {
      client.isClosed = true;
      await Promise.all([client.pool.destroy(), client.streamPool.destroy()]);
    },
  };
}

/**
 * Waits for a slot and sends a read or write. A read is retried as the policy allows, and uses the read budget.
 * @returns the parsed JSON of a 2xx response.
 * @throws StatusError, UnavailableError, DeadlineError, ResponseTooLargeError and InvalidResponseError. A call that is not
 * sent fails with ReadBudgetExceededError, CircuitOpenError or AbortedError.
 */
export function sendCall(client: ClientState, call: RestCall, callContext: CallContext): Promise<unknown> {
  const response = new JsonCall(client, call, callContext).send();
  if (isRead(call)) return response;
  // Even a failed write may have changed data. Counts that are read now must not be kept.
  return response.finally(() => {
    callContext.tenant.writes += 1;
  });
}

class JsonCall extends CallAttempts<unknown> {
  protected override readonly isQueued = true;

  protected override parse(text: string): unknown {
    const json = parseJson(text);
    if (json === undefined) throw new InvalidResponseError(`${describeCall(this.call)} returned no JSON`);
    return json;
  }
}

class StreamCall extends CallAttempts<StreamedResponse> {
  protected override readonly isQueued = false;

  /** Called by the exchange when the first bytes of a 2xx response have arrived. */
  streamed(response: StreamedResponse): void {
    this.timeouts.stop(this);
    this.timeouts = this.client.bodyTimeouts;
    this.timeouts.start(this);
    // Must precede `succeed`: a body that fails may close before the promise is resolved.
    response.body.once('close', () => this.cleanUp());
    this.succeed(response);
  }

  /** A stream gets a buffered 2xx response only if the body is empty. */
  protected override parse(): never {
    throw new InvalidResponseError(`${describeCall(this.call)} returned an empty body`);
  }
}
