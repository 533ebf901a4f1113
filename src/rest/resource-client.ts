import { isJsonObject } from '../base/json-object.ts';
import type { Page, PageQuery } from './api-types.ts';
import { describeCall, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
import type { RestClient } from './client/client.ts';
import { InvalidResponseError, type WaybillError } from './errors.ts';
import { failureAfterSend } from './protection/call-failure.ts';
import { type Collection, isMessageName, isNameOf, recordPath, resourceName } from './resource-name.ts';
import type { ListWatch, QueryParameterNames, SentParameters } from './watch/list-watch.ts';
import type { DriftWatch } from './watch/schema-drift.ts';
import { namedOtherwise, type ResourceKind } from './wire-schema.ts';

/**
 * Sends calls and checks that each response has the requested record or list.
 * @throws the errors of the call, and InvalidResponseError.
 */
export interface ResourceClient {
  /** Sends a call and returns the record in its response. */
  sendForRecord<Json>(kind: ResourceKind, call: RestCall, callContext: CallContext): Promise<Json>;
  /** Sends a request to the record's own path and returns the record. Rejects for an invalid id. */
  sendToRecord<Json>(
    collection: Collection & ResourceKind,
    id: string,
    request: Pick<RestCall, 'method' | 'body'>,
    callContext: CallContext,
  ): Promise<Json>;
  /** Fetches a page of the list at `listPath`. An InvalidResponseError replaces each row that is no record. */
  fetchPage<Json>(
    kind: ResourceKind,
    listPath: string,
    query: PageQuery,
    callContext: CallContext,
    filters?: Omit<SentParameters, keyof PageQuery>,
  ): Promise<Page<Json>>;
}

/** Creates a resource client over `send`. `listWatch` checks all pages, and `drift` a sample of the records. */
export function createResourceClient(
  send: RestClient['send'],
  names: QueryParameterNames,
  listWatch: ListWatch,
  drift?: DriftWatch,
): ResourceClient {
  function checkRecord<Json>(
    kind: ResourceKind,
    json: unknown,
    call: RestCall,
    { bearer }: CallContext,
  ): Json & { name: string } {
    drift?.check(kind, [json], bearer);
    if (!isRecordOf(kind, json)) {
      const hasOtherName = isJsonObject(json) && typeof json.name === 'string';
      throw unexpectedResponse(call, `no record of ${kind}`, hasOtherName);
    }
    // The interface promises the fields of Json. The graph checks each field that it returns.
    return json as Json & { name: string };
  }

  async function sendForRecord<Json>(
    kind: ResourceKind,
    call: RestCall,
    callContext: CallContext,
  ): Promise<Json> {
    return checkRecord(kind, await send(call, callContext), call, callContext);
  }

  async function sendToRecord<Json>(
    collection: Collection & ResourceKind,
    id: string,
    { method, body }: Pick<RestCall, 'method' | 'body'>,
    callContext: CallContext,
  ): Promise<Json> {
    const name = resourceName(collection, id);
    const path = recordPath(collection, name);
    const call: RestCall = { method, path, route: `/v1/${collection}/{id}`, body };
    const json = checkRecord<Json>(collection, await send(call, callContext), call, callContext);
    if (json.name !== name) throw unexpectedResponse(call, 'another record than the requested one');
    return json;
  }

  async function fetchPage<Json>(
    kind: ResourceKind,
    listPath: string,
    { pageSize, pageToken }: PageQuery,
    callContext: CallContext,
    filters: Omit<SentParameters, keyof PageQuery> = {},
  ): Promise<Page<Json>> {
    const sent: SentParameters = { pageSize: String(pageSize), pageToken, ...filters };
    const query = Object.entries(sent).map(([name, value]) => [names[name as keyof SentParameters], value]);
    const call: RestCall = { method: 'GET', path: listPath, query: Object.fromEntries(query) };
    const json = await send(call, callContext).catch((error: unknown) => {
      throw listWatch.toListError(kind, call, sent, error);
    });
    const rows = isJsonObject(json) ? json[kind] : undefined;
    if (!isJsonObject(json) || !Array.isArray(rows)) {
      throw new InvalidResponseError(`${describeCall(call)} returned no list of ${kind}`);
    }
    drift?.check(kind, rows, callContext.bearer);
    const nextToken = nextPageToken(call, json.nextPageToken);
    const listedRows = listWatch.check(kind, call, sent, rows, nextToken === undefined);
    return { rows: rowsOf(kind, listedRows, call), nextPageToken: nextToken };
  }

  return { sendForRecord, sendToRecord, fetchPage };
}

/** The rows of a page. The array is copied only if a row is no record. */
function rowsOf<Json>(
  kind: ResourceKind,
  rows: readonly unknown[],
  call: RestCall,
): readonly (Json | InvalidResponseError)[] {
  // The cast is explained in `checkRecord`.
  if (rows.every((row) => isRecordOf(kind, row))) return rows as readonly unknown[] as readonly Json[];
  return rows.map((row, index) =>
    isRecordOf(kind, row)
      ? (row as Json)
      : new InvalidResponseError(
          `${describeCall(call)} returned no record of ${kind} in row ${index}${nameFault(kind, row)}`,
        ),
  );
}

/** What is wrong with the name of a broken row that has one. */
function nameFault(kind: ResourceKind, row: unknown): string {
  if (!isJsonObject(row) || typeof row.name !== 'string') return '';
  const form = isNamedOtherwise(kind) ? namedOtherwise[kind] : `${kind}/<identifier>`;
  return `: its name is not "${form}"`;
}

function unexpectedResponse(call: RestCall, content: string, hasOtherName = false): WaybillError {
  const message = `${describeCall(call)} returned ${content}`;
  return failureAfterSend(call, new InvalidResponseError(message, { hasOtherName }));
}

function nextPageToken(call: RestCall, token: unknown): string | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  if (typeof token === 'string') return token;
  throw new InvalidResponseError(`${describeCall(call)} returned a nextPageToken that is not a string`);
}

/** Whether a value is an object with a name of this kind. */
function isRecordOf(kind: ResourceKind, value: unknown): value is { name: string } {
  return isJsonObject(value) && typeof value.name === 'string' && isNameOfKind(kind, value.name);
}

function isNameOfKind(kind: ResourceKind, name: string): boolean {
  if (!isNamedOtherwise(kind)) return isNameOf(kind, name);
  return namedOtherwise[kind] === 'any text' || isMessageName(name);
}

// A set, because every row of a list is checked.
const kindsNamedOtherwise: ReadonlySet<string> = new Set(Object.keys(namedOtherwise));

function isNamedOtherwise(kind: ResourceKind): kind is keyof typeof namedOtherwise {
  return kindsNamedOtherwise.has(kind);
}
