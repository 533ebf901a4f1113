import { ApolloLink, makeVar } from '@apollo/client';
import type { FormattedExecutionResult } from 'graphql';
import { map } from 'rxjs';

/** The part of `extensions` that the server adds with the sandbox, or with `SHOW_COST=yes`. */
interface Upstream {
  calls: number;
  cached: number;
  savedByList: number;
  requests: { method: string; path: string }[];
}

/** The REST calls of this screen, and how many there were without the graph. */
export const costs = makeVar({ requests: 0, calls: 0, restClient: 0 });
/** The orders whose shipment the last answer could not tell. */
export const notKnown = makeVar<ReadonlySet<string>>(new Set());
/** The operations of the board whose last answer lacked rows, with the message of the server. */
export const failures = makeVar<Readonly<Record<string, string>>>({});
/** When an answer of the board had all of its rows. */
export const completeAt = makeVar(0);

/** Reads costs and errors of all answers, also of each event of a stream. */
export const answersLink = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    map((answer) => {
      // The type of a stream's events has more than answers. All have these parts.
      const { data, errors = [], extensions } = answer as FormattedExecutionResult;
      const { upstream } = (extensions ?? {}) as { upstream?: Upstream };
      if (upstream) addCost(upstream);
      const name = operation.operationName ?? '';
      if (['Board', 'Live', 'Rows'].includes(name)) readOrders(name, data, errors);
      return answer;
    }),
  ),
);

/** A REST client reads each record by its id, and has no cache. It does not read the pages that spare these reads. */
function addCost({ calls, cached, savedByList, requests }: Upstream): void {
  const sparingPages = requests.filter(({ method, path }) => method === 'GET' && path === '/v1/shipments');
  const before = costs();
  costs({
    requests: before.requests + 1,
    calls: before.calls + calls,
    restClient: before.restClient + Math.max(calls, calls - sparingPages.length + savedByList + cached),
  });
}

function readOrders(
  name: string,
  data: unknown,
  errors: NonNullable<FormattedExecutionResult['errors']>,
): void {
  const unknown = new Set(notKnown());
  let isComplete = true;
  for (const order of ordersIn(data)) unknown.delete(order);
  for (const { path = [] } of errors) {
    const order = path.reduce(deepest, { value: data, order: undefined }).order;
    if (order === undefined) isComplete = false;
    else unknown.add(order);
  }
  notKnown(unknown);
  const { [name]: _earlier, ...others } = failures();
  failures(isComplete ? others : { ...others, [name]: errors[0]?.message ?? '' });
  if (isComplete) completeAt(Date.now());
}

/** Steps down to a part of the answer, and keeps the id of the order on the way. */
function deepest(at: { value: unknown; order: string | undefined }, key: string | number) {
  const value = Object(at.value)[key];
  return { value, order: Object(value).__typename === 'Order' ? Object(value).id : at.order };
}

function ordersIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { __typename, id } = Object(value);
  return __typename === 'Order' ? [id] : Object.values(value).flatMap(ordersIn);
}
