import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import {
  isNotFound,
  isOfOneOperation,
  isUnauthenticated,
  StatusError,
  UnexpectedNameError,
  WaybillError,
} from '../rest/errors.ts';
import { PerTenant, type Tenant } from '../tenancy/tenant.ts';
import { createDigest } from './digest.ts';
import type { KeyStore } from './store/key-store.ts';

/** The merchant of an access token cannot be found out now, so no write with a key was sent. */
export class MerchantUnknownError extends WaybillError {
  constructor(cause: Error) {
    // The text of a failure of REST is not for clients.
    const reason = cause instanceof StatusError ? cause.summary : cause.message;
    super(
      `The organization of this access token cannot be read: ${reason}. Nothing was written. ` +
        'Send the same request again.',
      { cause },
    );
  }
}

export type Merchants = ReturnType<typeof createMerchants>;

export interface MerchantsOptions {
  api: Pick<RestApi, 'getOrganization'>;
  store: KeyStore;
  /** Names the REST service: organizations of two services are different merchants. */
  service: string;
}

/**
 * The merchant of a token. `isNotFound`: REST answered with 404, so the token itself is the merchant, until another
 * token shows that the service has organizations.
 */
interface KnownMerchant {
  merchant: string;
  isNotFound?: boolean;
}

/**
 * Finds out whose idempotency keys and locks a request uses. They belong to the merchant and not to the token: a client
 * may lose a response, refresh its token, and repeat its key.
 */
export function createMerchants({ api, store, service }: MerchantsOptions) {
  const digest = createDigest(store.secret);
  const pendingByTenant = new PerTenant<Promise<KnownMerchant>>();
  const serviceDigest = () => digest(['service', service]);
  const wasOrganizationShown = () => store.wasOrganizationShown(serviceDigest());

  /** Asks twice if the first answer is 403 (docs/design/how-a-write-happens-once.md#the-merchant). */
  async function ask(callContext: CallContext, isSecond = false): Promise<KnownMerchant> {
    const token = { merchant: digest(['token', service, callContext.bearer]) };
    let name: string;
    try {
      ({ name } = await api.getOrganization(callContext));
    } catch (error) {
      if (error instanceof StatusError && error.status === 403)
        return isSecond ? token : ask(callContext, true);
      if (error instanceof UnexpectedNameError) return token;
      // A 404 may also come from a deploy of REST. It must not turn one merchant into as many as there are tokens.
      if (isNotFound(error) && !(await wasOrganizationShown())) return { ...token, isNotFound: true };
      throw isAboutOrganization(error) ? new MerchantUnknownError(error) : error;
    }
    // The literal `mine` would make one merchant of all.
    if (name === 'organization/mine') return token;
    await store.noteOrganizationShown(serviceDigest());
    return { merchant: digest(['organization', service, name]) };
  }

  /**
   * The first operation of a token asks, and the others share its answer. They ask again if that operation ended early,
   * or if its 404 has turned out to be wrong.
   */
  async function merchantOf(callContext: CallContext): Promise<string> {
    const { tenant } = callContext;
    const isAsking = pendingByTenant.known(tenant) === undefined;
    const pending = pendingByTenant.of(tenant, () => ask(callContext));
    const drop = () => {
      if (pendingByTenant.known(tenant) === pending) pendingByTenant.drop(tenant);
    };
    try {
      const { merchant, isNotFound } = await pending;
      if (isAsking || isNotFound !== true || !(await wasOrganizationShown())) return merchant;
      // The 404 has come from a deploy of REST.
      drop();
    } catch (error) {
      drop();
      // The operation that asked has ended or has no reads left. This one asks again.
      if (isAsking || !isOfOneOperation(error) || callContext.signal.aborted) throw error;
    }
    return merchantOf(callContext);
  }

  return {
    /**
     * The digest of the merchant: the token's organization, or the token itself if REST shows none ("Organization").
     * @throws MerchantUnknownError, and the errors that any call of the operation would meet.
     */
    of: merchantOf,
    /** Forgets the merchant of a token that REST has rejected. */
    forget: (tenant: Tenant) => pendingByTenant.drop(tenant),
  };
}

/** Whether REST answered, or failed to answer, the question for the organization. A 401 is about the token. */
function isAboutOrganization(error: unknown): error is WaybillError {
  return error instanceof WaybillError && !isOfOneOperation(error) && !isUnauthenticated(error);
}
