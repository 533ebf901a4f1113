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
import type { HeaderReader } from '../http/header-reader.ts';
import { readBearer } from '../http/request-checks.ts';

/** Shares rejected access tokens between processes with the same `secret`, by tenant id. */
export interface TokenRejections {
  publish(tenantId: string): void;
  /** Calls `onRejected` with each tenant id that another process publishes. */
  subscribe(onRejected: (tenantId: string) => void): void;
}

export interface TokenStateOptions {
  api: RestApi;
  keyStore: KeyStore;
  service: string;
  loading: LoadingOptions;
  readsPerOperation: number;
  callsAtOnce: number;
  metrics: Metrics | undefined;
  report: ReportError;
  tokenRejections: TokenRejections | undefined;
  /** See `IdempotencyOptions`. */
  processingMs?: number | undefined;
}

/** What the process keeps of access tokens. When REST rejects a token, all of it is forgotten. */
export function createTokenState(options: TokenStateOptions) {
  const { api, keyStore, metrics, tokenRejections } = options;
  const loaderStates = createLoaderStates(options.loading, metrics?.loading);
  const tenants = new Tenants({ secret: keyStore.secret });
  const merchants = createMerchants({ api, store: keyStore, service: options.service });
  function forget(tenant: Tenant): void {
    loaderStates.forget(tenant);
    merchants.forget(tenant);
  }
  tokenRejections?.subscribe((id) => {
    tenants.reject(id);
    const tenant = tenants.withId(id);
    if (tenant !== undefined) forget(tenant);
  });
  const callContexts = createCallContexts({
    readsPerOperation: options.readsPerOperation,
    callsAtOnce: options.callsAtOnce,
    tenants,
    onTokenRejected(tenant) {
      forget(tenant);
      tokenRejections?.publish(tenant.id);
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
      processingMs: options.processingMs,
    }),
    /** Whether REST has accepted the access token in these headers within an hour. */
    isTokenAccepted: (headers: HeaderReader): boolean => acceptedTenant(headers) !== undefined,
    /** Whose turn a request with these headers takes. */
    owner(headers: HeaderReader, connection: object): Owner {
      const tenant = acceptedTenant(headers);
      return tenant === undefined ? anonymousOwner(connection) : { token: tenant, connection: undefined };
    },
  };
}
