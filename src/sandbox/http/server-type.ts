import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { FaultEffect } from '../faults/faults.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { PastOrders } from '../rules/past-orders.ts';
import type { Clock } from '../store/clock.ts';
import type { Merchant } from '../store/merchants.ts';
import type { Store } from '../store/store.ts';
import type { RequestEntry } from './request-log.ts';

/** A Fastify server whose handlers are typed by their route's schemas. */
export type Server = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** What the routes work with. */
export interface Service {
  store: Store;
  clock: Clock;
  pastOrders: PastOrders;
  /** The address of the sandbox, without a slash at the end. Known once it listens. */
  url(): string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose bearer the request carries; set before any route that is not `open`. */
    merchant: Merchant;
    /** What goes wrong with this request; undefined for nothing. */
    fault: FaultEffect | undefined;
    /** Those that stand, with those of its fault in their place. */
    quirks: Quirks;
    /** Its place in the log. */
    entry: RequestEntry;
  }
  interface FastifyContextConfig {
    /** Whether the route needs no bearer. */
    open?: boolean;
  }
}
