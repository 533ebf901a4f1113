import { described, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
import { failureOnceSent } from './client/failure.ts';
import type { JsonCall } from './client/single-flight.ts';
import { InvalidResponseError, type WaybillError } from './errors.ts';
import { type Collection, isMessageName, isNameOf, resourceName } from './resource-name.ts';
import type { DriftWatch } from './schema-drift.ts';
import type { Page, PageQuery } from './types.ts';

/** The names of the lists' query parameters, which the interface leaves open. */
export interface ParameterNames {
  pageSize: string;
  pageToken: string;
  status: string;
  search: string;
  query: string;
}

/** What a record can be of. A list has its rows under the kind's own name. */
export type Kind = Collection | 'templates' | 'messages';

/** The collections whose records are got one by one. */
const routes = {
  orders: '/v1/orders/{id}',
  quotes: '/v1/quotes/{id}',
  shipments: '/v1/shipments/{id}',
} as const;

/** Makes calls, and holds what they answer against what was asked for. All throw as the calls do, and InvalidResponseError. */
export interface Records {
  /** A record that a call answers. */
  record<Json>(kind: Kind, call: RestCall, callContext: CallContext): Promise<Json>;
  /** The record of this id. An unfit id is a rejection. */
  recordNamed<Json>(
    collection: keyof typeof routes,
    id: string,
    request: Pick<RestCall, 'method' | 'body'>,
    callContext: CallContext,
  ): Promise<Json>;
  /** A page of the list at `listPath`; each row that is no record is an error of its own. */
  page<Json>(
    kind: Kind,
    listPath: string,
    query: PageQuery,
    callContext: CallContext,
    filters?: Record<string, string | undefined>,
  ): Promise<Page<Json>>;
}

/** `drift` is shown what REST answers. */
export function createRecords(
  send: JsonCall,
  names: Pick<ParameterNames, 'pageSize' | 'pageToken'>,
  drift?: DriftWatch,
): Records {
  function checked<Json>(
    kind: Kind,
    json: unknown,
    call: RestCall,
    { bearer }: CallContext,
  ): Json & { name: string } {
    drift?.look(kind, [json], bearer);
    if (!isRecordOf(kind, json)) {
      throw unreadable(call, `something that is no record of ${kind}`);
    }
    // The interface promises these fields; the graph checks each one that it hands out.
    return json as Json & { name: string };
  }

  async function record<Json>(kind: Kind, call: RestCall, callContext: CallContext): Promise<Json> {
    return checked(kind, await send(call, callContext), call, callContext);
  }

  async function recordNamed<Json>(
    collection: keyof typeof routes,
    id: string,
    { method, body }: Pick<RestCall, 'method' | 'body'>,
    callContext: CallContext,
  ): Promise<Json> {
    const name = resourceName(collection, id);
    const path = `/v1/${collection}/${encodeURIComponent(name.slice(collection.length + 1))}`;
    const call: RestCall = { method, path, route: routes[collection], body };
    const json = checked<Json>(collection, await send(call, callContext), call, callContext);
    if (json.name !== name) throw unreadable(call, 'another record than the one asked for');
    return json;
  }

  async function page<Json>(
    kind: Kind,
    listPath: string,
    { pageSize, pageToken }: PageQuery,
    callContext: CallContext,
    filters: Record<string, string | undefined> = {},
  ): Promise<Page<Json>> {
    const call: RestCall = {
      method: 'GET',
      path: listPath,
      query: { [names.pageSize]: String(pageSize), [names.pageToken]: pageToken, ...filters },
    };
    const json = await send(call, callContext);
    const rows = isObject(json) ? json[kind] : undefined;
    if (!isObject(json) || !Array.isArray(rows)) {
      throw new InvalidResponseError(`${described(call)} answered something that holds no list of ${kind}`);
    }
    drift?.look(kind, rows, callContext.bearer);
    return {
      rows: rowsOf(kind, rows, call),
      nextPageToken: nextPageToken(call, json.nextPageToken),
    };
  }

  return { record, recordNamed, page };
}

/** The rows of a page, which are copied only where some are no records. */
function rowsOf<Json>(
  kind: Kind,
  rows: readonly unknown[],
  call: RestCall,
): readonly (Json | InvalidResponseError)[] {
  // As `checked` says.
  if (rows.every((row) => isRecordOf(kind, row))) return rows as readonly unknown[] as readonly Json[];
  return rows.map((row, index) =>
    isRecordOf(kind, row)
      ? (row as Json)
      : new InvalidResponseError(`${described(call)} answered no record of ${kind} in row ${index}`),
  );
}

function unreadable(call: RestCall, what: string): WaybillError {
  return failureOnceSent(call, new InvalidResponseError(`${described(call)} answered ${what}`));
}

function nextPageToken(call: RestCall, token: unknown): string | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  if (typeof token === 'string') return token;
  throw new InvalidResponseError(`${described(call)} answered a nextPageToken that is not a string`);
}

/** Whether it is an object with a name of this kind. */
function isRecordOf(kind: Kind, value: unknown): value is { name: string } {
  return isObject(value) && typeof value.name === 'string' && isNameOfKind(kind, value.name);
}

function isNameOfKind(kind: Kind, name: string): boolean {
  // A template has the name that the merchant chose.
  if (kind === 'templates') return true;
  return kind === 'messages' ? isMessageName(name) : isNameOf(kind, name);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
