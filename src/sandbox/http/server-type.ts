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
import type { StaleOrders } from '../rules/stale-orders.ts';
import type { Clock } from '../store/clock.ts';
import type { AccessToken, Merchant } from '../store/merchants.ts';
import type { Store } from '../store/store.ts';
import type { RequestEntry } from './request-log.ts';

/** A Fastify server. The schemas of a route give the types of its handler. */
export type Server = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** The dependencies of the routes. */
export interface Service {
  store: Store;
  clock: Clock;
  staleOrders: StaleOrders;
  /** The base URL of the sandbox, without a slash at the end. Empty until the server listens. */
  url(): string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The merchant of the request. Set on all routes that are not `open`. */
    merchant: Merchant;
    /** The access token of the request. Set on all routes that are not `open`. */
    accessToken: AccessToken;
    /** The fault of this request, if any. */
    fault: FaultEffect | undefined;
    /** The sandbox's quirks, overridden by quirks of the request's fault. */
    quirks: Quirks;
    /** The log entry of this request. */
    entry: RequestEntry;
  }
  interface FastifyContextConfig {
    /** Whether the route needs no bearer token. */
    open?: boolean;
    /** Whether the route also takes a token that has ended. */
    takesEndedToken?: boolean;
  }
}
