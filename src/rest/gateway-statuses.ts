/** What a client is told of a gateway's answer to a read: REST was not reachable, or too slow. */
export type GatewayFailure = 'unavailable' | 'timeout';

const known = new Map<number, GatewayFailure>([
  // The request arrived too slowly. A gateway may have forwarded it before.
  [408, 'timeout'],
  // A gateway's client left before the response (460 of load balancers, 499 of nginx). Waybill is still there, so the
  // client was a gateway in between.
  [460, 'timeout'],
  [499, 'timeout'],
  // REST sent no valid response, or the connection to REST broke.
  [502, 'unavailable'],
  // REST refuses, or a gateway found no server, or the connection to REST broke after the request (Envoy).
  [503, 'unavailable'],
  [504, 'timeout'],
  // REST did not acknowledge the connection, or the request.
  [522, 'timeout'],
  // REST has the request, and did not respond for 100 seconds.
  [524, 'timeout'],
  // REST did not respond, or did not accept the connection.
  [598, 'timeout'],
  [599, 'timeout'],
]);

/**
 * The one list of the statuses with which a gateway or a content network responds in place of REST: 408, 460, 499, 502,
 * 503, 504, and 520 to 599, which no standard defines. What each of them means:
 *
 * - REST may have got a write, may be at work on it, and may have done it. No status of the list proves the opposite.
 *   521 (connection refused), 523 (no route), 525 and 526 (no TLS) and 530 (no address) are about the last attempt of the
 *   network. An earlier attempt may have arrived, and another network may give these numbers another meaning.
 * - A read may be retried.
 * - The call counts as failed for the circuit breaker. A page of a list that fails so is a sign of overload: one GET tries
 *   whether the service responds at all (`list-batch-loader.ts`).
 *
 * Not in the list: 421, 425 and 429 say that the request was refused unprocessed. A read that got 429 is retried only
 * when REST says when. 421 is about the host, of which there is one, and 425 about early data, which Waybill never sends.
 * 500 and the other 5xx below 520 are answers of REST itself.
 * @returns undefined for a status that is not in the list
 */
export function gatewayFailure(status: number): GatewayFailure | undefined {
  return known.get(status) ?? (status >= 520 && status <= 599 ? 'unavailable' : undefined);
}

/** Whether a status is one of a gateway, as `gatewayFailure` says. */
export function isOfGateway(status: number): boolean {
  return gatewayFailure(status) !== undefined;
}
