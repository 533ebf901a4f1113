import { anonymousOwner, type Owner } from '../../concurrency/owner.ts';
import { createLoaderStates, type LoadingOptions } from '../../loaders/tenant-state.ts';
import type { RestApi } from '../../rest/api.ts';
import { createCallContexts } from '../../rest/client/call-context.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type Tenant, Tenants } from '../../tenancy/tenant.ts';
import { createIdempotency } from '../../writes/idempotency.ts';
import { createMerchants } from '../../writes/merchant.ts';
import type { KeyStore } from '../../writes/store/key-store.ts';
import type { HeaderReader } from '../http/http-types.ts';
import { readBearer } from './bearer.ts';

export interface TokenSettings extends LoadingOptions {
  readsPerOperation: number;
  upstreamConnections: number;
  /** See `IdempotencyOptions`. */
  processingMs?: number | undefined;
}

export interface TokenMemoryOptions {
  settings: TokenSettings;
  api: RestApi;
  keyStore: KeyStore;
  /** See `MerchantsOptions`. */
  service: string;
  metrics: Metrics | undefined;
  report: ReportError;
  /** Called with an access token that REST has rejected. */
  onTokenRejected: (bearer: string) => void;
}

export type TokenMemory = ReturnType<typeof createTokenMemory>;

/**
 * What the process keeps for access tokens. A tenant is the holder of one access token, known by its hash. A merchant is an
 * organization at REST, whose tokens share their idempotency keys. An owner is whoever takes turns for room: a tenant that
 * REST has accepted, or a connection.
 *
 * When REST rejects a token, what its loaders keep and its merchant are forgotten, and it counts as accepted no more. Its
 * idempotency keys stay, because they belong to the merchant.
 */
export function createTokenMemory(options: TokenMemoryOptions) {
  const { settings, api, keyStore, metrics } = options;
  const loaderStates = createLoaderStates(settings, metrics?.loading);
  const tenants = new Tenants();
  const merchants = createMerchants({ api, store: keyStore, service: options.service });
  const callContexts = createCallContexts({
    readsPerOperation: settings.readsPerOperation,
    callsAtOnce: settings.upstreamConnections,
    tenants,
    onTokenRejected(tenant, bearer) {
      loaderStates.forget(tenant);
      merchants.forget(tenant);
      options.onTokenRejected(bearer);
    },
  });
  metrics?.showCallsWaiting(callContexts.callsWaiting);
  function acceptedTenant(headers: HeaderReader): Tenant | undefined {
    const bearer = readBearer(headers);
    return typeof bearer === 'string' ? tenants.accepted(bearer) : undefined;
  }
  return {
    loaderStates,
    callContexts,
    idempotency: createIdempotency({
      store: keyStore,
      merchants,
      report: options.report,
      processingMs: settings.processingMs,
    }),
    toTenant: (bearer: string): Tenant => tenants.of(bearer),
    /** Whether REST has accepted the access token in these headers in the last one to two hours. */
    isTokenAccepted: (headers: HeaderReader): boolean => acceptedTenant(headers) !== undefined,
    /** The owner that a request with these headers counts to, where owners take turns. */
    owner(headers: HeaderReader, connection: object): Owner {
      const tenant = acceptedTenant(headers);
      return tenant === undefined ? anonymousOwner(connection) : { token: tenant, connection: undefined };
    },
  };
}
