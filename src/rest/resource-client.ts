import { isJsonObject } from '../base/json-object.ts';
import type { Page, PageQuery } from './api-types.ts';
import { describeCall, type RestCall } from './call.ts';
import type { CallContext } from './client/call-context.ts';
import type { RestClient } from './client/client.ts';
import { ForeignRecordError, InvalidResponseError, UnexpectedNameError } from './errors.ts';
import { failureAfterSend } from './protection/call-failure.ts';
import { findForeignName } from './repeated-names.ts';
import { type Collection, isNameFor, nameForm, recordPath, resourceName } from './resource-name.ts';
import type { ParameterWatch, SentParameters } from './watch/parameter-watch.ts';
import type { DriftWatch } from './watch/schema-drift.ts';
import type { ResourceKind, WireRecord } from './wire-schema.ts';

/**
 * Sends calls and checks that each response has the requested record or list. All methods throw the errors of the call, and
 * InvalidResponseError. `listWatch` checks all pages, and `drift` a sample of the records.
 */
export function createResourceClient(
  send: RestClient['send'],
  listWatch: ParameterWatch,
  drift?: DriftWatch,
) {
  /**
   * Sends a call and returns the record in its response.
   * @param faultOf says how a record is not the requested one.
   * @example sendForRecord('organization', { method: 'GET', path: '/v1/organizations/mine' }, callContext)
   */
  async function sendForRecord<Kind extends ResourceKind>(
    kind: Kind,
    call: RestCall,
    callContext: CallContext,
    faultOf: (record: WireRecord<Kind>) => string | undefined = () => undefined,
  ): Promise<WireRecord<Kind>> {
    const json = await send(call, callContext);
    const fault = isRecord(kind, json) ? faultOf(json) : undefined;
    // Before the check for drift, because no log may show a record of another request.
    if (fault !== undefined) throw unexpectedResponse(call, fault, ForeignRecordError);
    drift?.check(kind, [json], callContext.bearer);
    if (isRecord(kind, json)) return json;
    const ErrorClass = hasName(json) ? UnexpectedNameError : InvalidResponseError;
    throw unexpectedResponse(call, `a response that is not a record of ${kind}`, ErrorClass);
  }

  /**
   * Sends a POST and returns its record.
   * @param asked the names that the record repeats (repeated-names.ts).
   * @example postForRecord('quotes', { method: 'POST', path: '/v1/quotes', body: quote }, callContext, quote)
   */
  async function postForRecord<Kind extends ResourceKind>(
    kind: Kind,
    call: RestCall,
    callContext: CallContext,
    asked: object,
  ): Promise<WireRecord<Kind>> {
    return sendForRecord(kind, call, callContext, (record) => {
      const foreign = findForeignName(kind, asked, record);
      return foreign && `a record of another request: its "${foreign}" differs`;
    });
  }

  /**
   * Sends a request to the record's own path and returns the record. Rejects for an invalid id.
   * @example sendToRecord('quotes', 'quotes/ca2139', { method: 'GET' }, callContext) // GET /v1/quotes/ca2139
   */
  async function sendToRecord<Kind extends Collection & ResourceKind>(
    collection: Kind,
    id: string,
    request: Pick<RestCall, 'method' | 'body'>,
    callContext: CallContext,
  ): Promise<WireRecord<Kind>> {
    const name = resourceName(collection, id);
    const call = { ...request, path: recordPath(collection, name), route: `/v1/${collection}/{id}` };
    return sendForRecord(collection, call, callContext, (record) =>
      record.name === name ? undefined : 'a different record than the requested one',
    );
  }

  /**
   * Fetches a page of the list at `path`. An InvalidResponseError replaces each row that is no record.
   * @example fetchPage('locations', '/v1/locations', { pageSize: 20 }, callContext, { query: 'Pasto' })
   */
  async function fetchPage<Kind extends ResourceKind>(
    kind: Kind,
    path: string,
    { pageSize, pageToken }: PageQuery,
    callContext: CallContext,
    filters: Omit<SentParameters, keyof PageQuery> = {},
  ): Promise<Page<WireRecord<Kind>>> {
    const sent = { pageSize: String(pageSize), pageToken, ...filters };
    const call: RestCall = { method: 'GET', path, query: listWatch.query(sent) };
    const json = await send(call, callContext).catch((error: unknown) => {
      throw listWatch.toListError(kind, call, sent, error);
    });
    const rows = isJsonObject(json) ? json[kind] : undefined;
    if (!isJsonObject(json) || !Array.isArray(rows))
      throw unexpectedResponse(call, `a response that is not a list of ${kind}`);
    drift?.check(kind, rows, callContext.bearer);
    const nextPageToken = readPageToken(call, json.nextPageToken);
    const listed = listWatch.check(kind, call, sent, rows, nextPageToken);
    return { rows: checkRows(kind, listed, call), nextPageToken, tokenWatch: listWatch.tokenWatch(kind) };
  }

  return { sendForRecord, postForRecord, sendToRecord, fetchPage };
}

/** The array is copied only if a row is no record. */
function checkRows<Kind extends ResourceKind>(kind: Kind, rows: readonly unknown[], call: RestCall) {
  if (rows.every((row) => isRecord(kind, row))) return rows;
  return rows.map((row, index) => {
    if (isRecord(kind, row)) return row;
    const fault = hasName(row) ? `: its name is not "${nameForm(kind)}"` : '';
    return new InvalidResponseError(
      `${describeCall(call)} returned an invalid record of ${kind} in row ${index}${fault}`,
    );
  });
}

function unexpectedResponse(call: RestCall, content: string, ErrorClass = InvalidResponseError): Error {
  return failureAfterSend(call, new ErrorClass(`${describeCall(call)} returned ${content}`));
}

function readPageToken(call: RestCall, token: unknown): string | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  if (typeof token === 'string') return token;
  throw new InvalidResponseError(`${describeCall(call)} returned a nextPageToken that is not a string`);
}

/** Whether a value is an object with a name of this kind. The graph checks each other field that it returns. */
function isRecord<Kind extends ResourceKind>(kind: Kind, value: unknown): value is WireRecord<Kind> {
  return hasName(value) && isNameFor(kind, value.name);
}

function hasName(value: unknown): value is { name: string } {
  return isJsonObject(value) && typeof value.name === 'string';
}
