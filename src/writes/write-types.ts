import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import type { Idempotency } from './idempotency.ts';

/** What the writes of one operation need. */
export interface WriteParts {
  readonly api: RestApi;
  readonly callContext: CallContext;
  /** Each write updates or clears the records that the loaders have cached. */
  readonly loaders: Loaders;
  readonly idempotency: Idempotency;
}
