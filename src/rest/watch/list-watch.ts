import { describeCall, type RestCall } from '../call.ts';
import {
  InvalidResponseError,
  PageTokenRefusedError,
  ParameterRefusedError,
  StatusError,
} from '../errors.ts';

/** The query parameter names of the lists, which the interface leaves open ("List query parameters"). */
export interface QueryParameterNames {
  pageSize: string;
  pageToken: string;
  status: string;
  search: string;
  query: string;
}

type Parameter = keyof QueryParameterNames;

/** The values that a list call sends, as texts. */
export type SentParameters = { readonly [Name in Parameter]?: string | undefined };

const settings: Record<Parameter, string> = {
  pageSize: 'PAGE_SIZE_PARAMETER',
  pageToken: 'PAGE_TOKEN_PARAMETER',
  status: 'STATUS_PARAMETER',
  search: 'SEARCH_PARAMETER',
  query: 'QUERY_PARAMETER',
};

/** A sign that REST does not know the name of a list parameter. */
export interface ParameterProblem {
  setting: string;
  list: string;
  problem: string;
}

export interface ListWatchOptions {
  names: QueryParameterNames;
  /** Called at most once in ten minutes for a list and a setting. */
  onProblem?: ((problem: ParameterProblem) => void) | undefined;
  /** Called for rows that were left out because a status filter should have done so. */
  onRowsOutside?: ((list: string, count: number) => void) | undefined;
  /** A clock in milliseconds with any start. */
  now?: () => number;
}

const msBetweenProblems = 600_000;
const minRowsOutside = 2;
const minRowsSearched = 5;

/** The parameters whose texts a search must find in its rows. */
const searches = ['search', 'query'] as const;

/**
 * Finds out by the responses of REST whether it knows the names of the list parameters. A service that ignores a wrong name
 * returns rows that nobody asked for.
 */
export class ListWatch {
  readonly #options: ListWatchOptions;
  /** Parameters of lists that REST has accepted once. */
  readonly #accepted = new Set<string>();
  readonly #lastProblems = new Map<string, number>();
  /** By list: the rows of the last page without a filter that was short, and not the last page of the list. */
  readonly #shortPages = new Map<string, number>();

  constructor(options: ListWatchOptions) {
    this.#options = options;
  }

  /** The query of a list call, with the names of this REST service. */
  query(sent: SentParameters): Record<string, string | undefined> {
    const { names } = this.#options;
    return Object.fromEntries(sentParameters(sent).map((parameter) => [names[parameter], sent[parameter]]));
  }

  /**
   * Checks the rows of a page.
   * @returns the rows without those that the status filter should have left out.
   * @throws InvalidResponseError if these are two or more, and more than half of the page.
   */
  check(
    list: string,
    call: RestCall,
    sent: SentParameters,
    rows: readonly unknown[],
    isLast: boolean,
  ): readonly unknown[] {
    for (const parameter of sentParameters(sent)) this.#accepted.add(`${list} ${parameter}`);
    this.#checkPageSize(list, sent, rows.length, isLast);
    for (const parameter of searches) this.#checkSearch(list, parameter, sent[parameter], rows);
    if (sent.status === undefined) return rows;
    const inside = withStatus(call, sent.status, rows);
    if (inside.length < rows.length) this.#options.onRowsOutside?.(list, rows.length - inside.length);
    return inside;
  }

  /** The error for a list call that REST refused, which may tell of a wrong name. */
  toListError(list: string, call: RestCall, sent: SentParameters, error: unknown): unknown {
    if (!(error instanceof StatusError) || (error.status !== 400 && error.status !== 422)) return error;
    const parameters = sentParameters(sent);
    const unknown = parameters.filter((parameter) => !this.#accepted.has(`${list} ${parameter}`));
    const named = unknown.filter((parameter) => this.#isNamedIn(error, parameter));
    const suspects = named.length > 0 ? named : unknown;
    if (suspects.length > 0)
      return new ParameterRefusedError(
        call,
        error,
        suspects.map((parameter) => settings[parameter]),
      );
    const refusesText = searches.some(
      (parameter) => sent[parameter] !== undefined && this.#isNamedIn(error, parameter),
    );
    return sent.pageToken === undefined || refusesText
      ? error
      : new PageTokenRefusedError(call, error.status, error.details);
  }

  #isNamedIn({ details }: StatusError, parameter: Parameter): boolean {
    const name = this.#options.names[parameter];
    const texts = [details.message ?? '', ...details.fields.flatMap(({ path, message }) => [path, message])];
    return texts.some((text) => text.split(/[^\w.-]+/).includes(name));
  }

  #checkPageSize(list: string, sent: SentParameters, rows: number, isLast: boolean): void {
    const asked = Number(sent.pageSize);
    if (rows > asked) {
      this.#report('pageSize', list, `The REST service returned ${rows} rows, but ${asked} were requested.`);
      return;
    }
    // A service may filter the rows of a page, so a filtered page is short by chance.
    const isFiltered = Boolean(sent.status ?? sent.search ?? sent.query);
    if (isLast || isFiltered || rows === 0 || rows === asked) return;
    if (this.#shortPages.get(list) === rows)
      this.#report(
        'pageSize',
        list,
        `The REST service returns pages of ${rows} rows, although more were requested.`,
      );
    this.#shortPages.set(list, rows);
  }

  #checkSearch(
    list: string,
    parameter: (typeof searches)[number],
    text: string | undefined,
    rows: readonly unknown[],
  ): void {
    if (text === undefined || rows.length < minRowsSearched) return;
    const words = plain(text)
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '');
    const isFound = (row: unknown) => {
      const content = plain(JSON.stringify(row));
      return words.some((word) => content.includes(word));
    };
    if (words.length > 0 && !rows.some(isFound))
      this.#report(
        parameter,
        list,
        'The REST service returned rows that contain no word of the search text.',
      );
  }

  #report(parameter: Parameter, list: string, problem: string): void {
    const { onProblem, now = () => performance.now() } = this.#options;
    const key = `${list} ${parameter}`;
    const last = this.#lastProblems.get(key);
    if (last !== undefined && now() - last < msBetweenProblems) return;
    this.#lastProblems.set(key, now());
    onProblem?.({ setting: settings[parameter], list, problem });
  }
}

/** The error if a list does not go on where a page token leads. */
export function pageTokenIgnored(detail: string): InvalidResponseError {
  return new InvalidResponseError(`${detail} Check the setting ${settings.pageToken}.`);
}

function sentParameters(sent: SentParameters): Parameter[] {
  // The keys of SentParameters.
  return (Object.keys(sent) as Parameter[]).filter((parameter) => sent[parameter] !== undefined);
}

/** Rows without a usable status stay: their fields tell of it. */
function withStatus(call: RestCall, filter: string, rows: readonly unknown[]): readonly unknown[] {
  const statuses = new Set(filter.split(','));
  const inside = rows.filter((row) => {
    const status: unknown = Object(row).status;
    return typeof status !== 'string' || statuses.has(status);
  });
  const outsideCount = rows.length - inside.length;
  if (outsideCount < minRowsOutside || outsideCount <= rows.length / 2) return inside;
  throw new InvalidResponseError(
    `${describeCall(call)} returned ${rows.length} rows, ${outsideCount} of them with a status that was not requested. ` +
      `Check the setting ${settings.status}.`,
  );
}

/** In lower case and without accents, because searches are fuzzy. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
