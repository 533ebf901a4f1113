import { parseJson } from '../../base/json-object.ts';
import { stopSharingPendingReads } from '../../tenancy/tenant.ts';
import { describeCall, isRead, type RestCall } from '../call.ts';
import { InvalidResponseError } from '../errors.ts';
import type { ServiceClock } from '../service-clock.ts';
import type { CallContext } from './call-context.ts';
import type { StreamedResponse } from './http-exchange.ts';
import { type ClientState, PendingCall } from './pending-call.ts';

class JsonCall extends PendingCall<unknown> {
  protected override readonly isQueued = true;

  override get serviceClock(): ServiceClock {
    return this.client.serviceClock;
  }

  protected override parse(text: string): unknown {
    const json = parseJson(text);
    if (json === undefined) throw new InvalidResponseError(`${describeCall(this.call)} returned no JSON`);
    return json;
  }
}

class StreamCall extends PendingCall<StreamedResponse> {
  protected override readonly isQueued = false;
  override readonly serviceClock = undefined;

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

/**
 * Waits for a slot and sends a read or write. A read is retried as the policy allows, and uses the read budget.
 * @returns the parsed JSON of a 2xx response.
 * @throws StatusError, UnavailableError, DeadlineError, ResponseTooLargeError and InvalidResponseError. A call that is not
 * sent fails with BudgetExceededError, CircuitOpenError or AbortedError.
 */
export function sendCall(client: ClientState, call: RestCall, callContext: CallContext): Promise<unknown> {
  const response = new JsonCall(client, call, callContext).send();
  if (isRead(call)) return response;
  // Even a failed write may have changed data. Later queries must not join queries that are pending now.
  return response.finally(() => stopSharingPendingReads(callContext.tenant));
}

/** Sends a read without a slot. @returns a 2xx response once the first bytes have arrived. @throws like `sendCall` */
export function streamCall(client: ClientState, call: RestCall, callContext: CallContext) {
  return new StreamCall(client, call, callContext).send();
}
