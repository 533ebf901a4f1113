import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { counted } from '../../base/counted.ts';
import type { TokenWatch } from '../api-types.ts';
import { describeCall, type RestCall } from '../call.ts';
import {
  InvalidResponseError,
  PageTokenRefusedError,
  ParameterRefusedError,
  StatusError,
} from '../errors.ts';

/** The variables of the settings that hold the names. */
const settings = {
  pageSize: 'PAGE_SIZE_PARAMETER',
  pageToken: 'PAGE_TOKEN_PARAMETER',
  status: 'STATUS_PARAMETER',
  search: 'SEARCH_PARAMETER',
  query: 'QUERY_PARAMETER',
};

type Parameter = keyof typeof settings;

/** The query parameter names of the lists, which the interface leaves open ("List query parameters"). */
export type QueryParameterNames = Record<Parameter, string>;

/** The values that a list call sends, as texts. */
export type SentParameters = { readonly [Name in Parameter]?: string | undefined };

type Rows = readonly unknown[];

/** A setting with the name of a parameter, and a list of REST that has the parameter. */
export interface WatchedName {
  setting: string;
  list: string;
}

export interface ParameterWatchOptions {
  /** Called for each sign that REST does not know a name. The problem is a sentence. */
  onProblem?: ((name: WatchedName, problem: string) => void) | undefined;
  /** Called when REST knows a name for which there were signs that REST does not know it. */
  onKnown?: ((name: WatchedName) => void) | undefined;
  /** Called for rows that were left out because a status filter should have done so. */
  onRowsOutside?: ((list: string, count: number) => void) | undefined;
}

const minRowsOutside = 2;
const minRowsSearched = 5;

/** Statuses with which REST may refuse the page token of an old cursor. The interface names none ("Errors"). */
const tokenRefusals: readonly number[] = [400, 404, 409, 410, 412, 416, 422];
/** How long a page token counts as fresh: REST should accept it, also where its tokens expire soon. */
const freshTokenMs = 60_000;

/** The parameters whose texts a search must find in its rows. */
const searches = ['search', 'query'] as const;

export type ParameterWatch = ReturnType<typeof createParameterWatch>;

/**
 * A watch that finds out by the responses of REST whether it knows the names of the list parameters. A service
 * that ignores a wrong name returns rows that nobody asked for.
 */
export function createParameterWatch(
  names: QueryParameterNames,
  { onProblem, onKnown, onRowsOutside }: ParameterWatchOptions,
) {
  /** Parameters of lists that REST has accepted once. */
  const accepted = new Set<string>();
  /** Parameters of lists with a sign, until REST knows their names. */
  const suspected = new Set<string>();
  const tokenWatches = new Map<string, TokenWatch>();
  /** By list: the rows of the last page without a filter that was short, and not the last page of the list. */
  const shortPages = new Map<string, number>();
  /** Digests of the page tokens that REST has just sent, for lists on which it has accepted none yet. */
  const freshTokens = new LRUCache<string, true>({ max: 100, ttl: freshTokenMs, ttlResolution: 0 });
  const tokenKey = (list: string, token: string) => hash('sha256', `${list} ${token}`, 'base64url');

  function report(list: string, parameter: Parameter, problem: string): void {
    suspected.add(`${list} ${parameter}`);
    onProblem?.({ setting: settings[parameter], list }, problem);
  }

  function noteKnown(list: string, parameter: Parameter): void {
    if (suspected.size === 0 || !suspected.delete(`${list} ${parameter}`)) return;
    onKnown?.({ setting: settings[parameter], list });
  }

  function checkPageSize(list: string, sent: SentParameters, rows: number, isLast: boolean): void {
    const asked = Number(sent.pageSize);
    if (rows > asked)
      report(list, 'pageSize', `The REST service returned ${rows} rows for a page size of ${asked}.`);
    if (rows === asked) noteKnown(list, 'pageSize');
    // A service may filter the rows of a page, so a filtered page is short by chance.
    const isFiltered = Boolean(sent.status ?? sent.search ?? sent.query);
    if (isLast || isFiltered || rows === 0 || rows >= asked) return;
    // Two short pages of the same length show that REST has a length of its own.
    if (shortPages.get(list) === rows) {
      const problem = `The REST service returns pages of ${counted(rows, 'row')}, although more were requested.`;
      report(list, 'pageSize', problem);
    }
    shortPages.set(list, rows);
  }

  function checkSearch(list: string, parameter: Parameter, sent: SentParameters, rows: Rows): void {
    const text = sent[parameter];
    if (text === undefined || rows.length < minRowsSearched) return;
    const words = plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];
    const isFound = (row: unknown) => {
      const content = plain(JSON.stringify(row));
      return words.some((word) => content.includes(word));
    };
    if (words.length === 0) return;
    if (rows.some(isFound)) noteKnown(list, parameter);
    else report(list, parameter, 'The REST service returned rows that contain no word of the search text.');
  }

  function isNamedIn({ details }: StatusError, parameter: Parameter): boolean {
    const texts = [details.message ?? '', ...details.fields.flatMap(({ path, message }) => [path, message])];
    return texts.some((text) => text.split(/[^\w.-]+/).includes(names[parameter]));
  }

  /**
   * The parameters that REST has never accepted and that may be why it refused a call.
   * @param mayHaveExpired whether the page token may be why, too. Then only parameters that REST names are suspects.
   */
  function suspectsOf(list: string, sent: SentParameters, error: StatusError, mayHaveExpired: boolean) {
    if (error.status !== 400 && error.status !== 422) return [];
    const unknown = sentParameters(sent).filter((parameter) => !accepted.has(`${list} ${parameter}`));
    const named = unknown.filter((parameter) => isNamedIn(error, parameter));
    if (!mayHaveExpired) return named.length > 0 ? named : unknown;
    // Where REST names the page token, its value has probably expired.
    return named.includes('pageToken') ? [] : named;
  }

  return {
    /** The query of a list call, with the names of this REST service. */
    query(sent: SentParameters): Record<string, string | undefined> {
      return Object.fromEntries(sentParameters(sent).map((parameter) => [names[parameter], sent[parameter]]));
    },

    /**
     * Checks the rows of a page.
     * @returns the rows without those that the status filter should have left out.
     * @throws InvalidResponseError if these are two or more, and more than half of the page.
     */
    check(
      list: string,
      call: RestCall,
      sent: SentParameters,
      rows: Rows,
      nextPageToken: string | undefined,
    ): Rows {
      for (const parameter of sentParameters(sent)) accepted.add(`${list} ${parameter}`);
      if (nextPageToken !== undefined && !accepted.has(`${list} pageToken`))
        freshTokens.set(tokenKey(list, nextPageToken), true);
      checkPageSize(list, sent, rows.length, nextPageToken === undefined);
      for (const parameter of searches) checkSearch(list, parameter, sent, rows);
      if (sent.status === undefined) return rows;
      const inside = withStatus(sent.status, rows);
      const outsideCount = rows.length - inside.length;
      if (outsideCount >= minRowsOutside && outsideCount > rows.length / 2) {
        const outside = `${rows.length} rows, ${outsideCount} of them with a status that was not requested.`;
        report(list, 'status', `The REST service returned ${outside}`);
        throw new InvalidResponseError(
          `${describeCall(call)} returned ${outside} Check the setting ${settings.status}.`,
        );
      }
      if (outsideCount > 0) onRowsOutside?.(list, outsideCount);
      else if (rows.length > 0) noteKnown(list, 'status');
      return inside;
    },

    /** The watch of the page tokens of a list. The same object for all its pages. */
    tokenWatch(list: string): TokenWatch {
      const known = tokenWatches.get(list);
      if (known !== undefined) return known;
      const watch: TokenWatch = {
        ignored: (detail) => report(list, 'pageToken', detail),
        followed: () => noteKnown(list, 'pageToken'),
      };
      tokenWatches.set(list, watch);
      return watch;
    },

    /**
     * The error for a list call that REST refused, which may tell of a wrong name. The page token of a cursor may have
     * expired, so its name is a suspect only where REST has just sent the token.
     */
    toListError(list: string, call: RestCall, sent: SentParameters, error: unknown): unknown {
      if (!(error instanceof StatusError) || !tokenRefusals.includes(error.status)) return error;
      const { pageToken } = sent;
      const mayHaveExpired = pageToken !== undefined && !freshTokens.has(tokenKey(list, pageToken));
      const suspects = suspectsOf(list, sent, error, mayHaveExpired);
      if (suspects.length > 0) {
        const problem = `The REST service returned ${error.status} for a call with this parameter.`;
        // A 400 without a name may have any other cause.
        for (const parameter of suspects) if (isNamedIn(error, parameter)) report(list, parameter, problem);
        return new ParameterRefusedError(
          call,
          error,
          suspects.map((parameter) => settings[parameter]),
        );
      }
      const refusesText = searches.some((search) => sent[search] !== undefined && isNamedIn(error, search));
      if (pageToken === undefined || refusesText) return error;
      return new PageTokenRefusedError(call, error);
    },
  };
}

/** Tells the watch of a page that page tokens are ignored. @returns the error for the client */
export function pageTokenIgnored(watch: TokenWatch | undefined, detail: string): InvalidResponseError {
  watch?.ignored(detail);
  return new InvalidResponseError(`${detail} Check the setting ${settings.pageToken}.`);
}

function sentParameters(sent: SentParameters): Parameter[] {
  // The keys of SentParameters.
  return (Object.keys(sent) as Parameter[]).filter((parameter) => sent[parameter] !== undefined);
}

/** Rows without a usable status stay: their fields tell of it. */
function withStatus(filter: string, rows: Rows): Rows {
  const statuses = new Set(filter.split(','));
  return rows.filter((row) => {
    const status: unknown = Object(row).status;
    return typeof status !== 'string' || statuses.has(status);
  });
}

/** In lower case and without accents, because searches are fuzzy. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
