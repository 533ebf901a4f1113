import type { Dispatcher } from 'undici';
import type { Defer } from '../../concurrency/defer.ts';
import type { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import type { Circuits } from '../protection/circuit-breaker.ts';
import type { Retries } from '../protection/retries.ts';
import type { CallObserver } from './call-log.ts';
import type { RequestOptions } from './http-exchange.ts';
import type { ServiceClock } from './service-clock.ts';

/** What the calls of one REST client share. */
export interface ClientState extends RequestOptions {
  /** No text of REST may show it to a client. */
  readonly restHost: string;
  /** Set at the end of the shutdown. A call that then fails was cut off by this server, and REST may still do it. */
  isClosed: boolean;
  readonly pool: Dispatcher;
  /** A stream takes no slot and lasts as long as its reader, so streams have connections of their own. */
  readonly streamPool: Dispatcher;
  readonly circuits: Circuits;
  readonly retries: Retries;
  readonly observers: readonly CallObserver[];
  readonly serviceClock: ServiceClock;
  /** The time limit of one attempt: to the last byte of the response, or to the first byte of a stream. */
  readonly timeouts: TimeoutQueue;
  /** The time limit from the first to the last byte of a stream. */
  readonly bodyTimeouts: TimeoutQueue;
  /** Defers the parsing of small bodies (docs/design/how-it-stays-fast.md#small-steps-together). */
  readonly deferParsing: Defer;
  /** Sends a call a moment later, so that an operation that ends at once sends none. */
  readonly deferSending: Defer;
}
