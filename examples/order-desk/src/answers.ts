import { ApolloLink, makeVar } from '@apollo/client';
import type { FormattedExecutionResult } from 'graphql';
import { tap } from 'rxjs';

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
/** The operations of the board whose last answer lacked rows, or did not come. */
export const failures = makeVar<ReadonlySet<string>>(new Set());
/** Whether the stream is lost. Until it is open again, the board reads the rows on the screen itself. */
export const isStreamLost = makeVar(false);
/** When an answer of the board had all of its rows. */
export const completeAt = makeVar(0);

/** Reads costs and errors of all answers, also of each event of a stream. */
export const answersLink = new ApolloLink((operation, forward) => {
  const name = operation.operationName ?? '';
  const isOfBoard = ['Board', 'Live', 'Rows'].includes(name);
  return forward(operation).pipe(
    tap({
      next(answer) {
        // The type of a stream's events has more than answers. All have these parts.
        const { data, errors = [], extensions } = answer as FormattedExecutionResult;
        const { upstream } = (extensions ?? {}) as { upstream?: Upstream };
        if (upstream) addCost(upstream);
        if (isOfBoard) readOrders(name, data, errors);
      },
      error() {
        if (isOfBoard) setFailing(name, true);
      },
    }),
  );
});

/** Goes after the link that opens a lost stream again, because that link does not tell of the loss. */
export const streamLink = new ApolloLink((operation, forward) => {
  if (operation.operationName !== 'Live') return forward(operation);
  const lose = () => {
    // What a read of the rows said before this loss is old.
    if (!isStreamLost()) setFailing('Rows', false);
    isStreamLost(true);
  };
  return forward(operation).pipe(
    tap({
      next(answer) {
        // A refused stream has an event without data, and ends.
        if ((answer as FormattedExecutionResult).data) isStreamLost(false);
      },
      error: lose,
      complete: lose,
    }),
  );
});

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
  setFailing(name, !isComplete);
  if (isComplete) completeAt(Date.now());
}

/** Notes whether the last answer to an operation of the board failed. */
export function setFailing(name: string, isFailing: boolean): void {
  const others = [...failures()].filter((each) => each !== name);
  failures(new Set(isFailing ? [...others, name] : others));
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
