import { isJsonObject } from '../base/json-object.ts';
import type { QueryParameterNames } from '../rest/watch/parameter-watch.ts';
import type { ResourceKind } from '../rest/wire-schema.ts';
import type { Answer, LiveService } from './live-service.ts';

/** `open`: the data or the calls do not tell. It is no failure. */
export type Mark = 'ok' | 'warning' | 'failure' | 'open';

/** What a check found out. No text has the access token, an identifier, or data of a person. */
export interface Outcome {
  mark: Mark;
  /** One line with the evidence. */
  cause: string;
  /** One line with what to do. */
  remedy?: string | undefined;
}

export const ok = (cause: string): Outcome => ({ mark: 'ok', cause });
export const open = (cause: string, remedy?: string): Outcome => ({ mark: 'open', cause, remedy });
export const warning = (cause: string, remedy: string): Outcome => ({ mark: 'warning', cause, remedy });
export const failure = (cause: string, remedy: string): Outcome => ({ mark: 'failure', cause, remedy });

export type Check = (examination: Examination) => Promise<Outcome>;

interface Page {
  rows: readonly unknown[];
  nextPageToken: unknown;
}

/** So many rows of a list are checked. */
export const maxRows = 100;

/** What the checks of one run know. Each check adds to it. */
export class Examination {
  readonly service: LiveService;
  /** The proven names of list parameters. */
  readonly names: Partial<QueryParameterNames> = {};
  /** The settings to use, by their variables. */
  readonly settings: Record<string, string>;
  /** The pages to check, by the kind of their rows. */
  readonly pages = new Map<ResourceKind, Page>();
  /** The response to the first call, a list of orders without parameters. */
  first: Answer | undefined;
  /** The response to an unknown parameter. Undefined where REST ignores it. */
  refusal: Answer | undefined;

  constructor(service: LiveService) {
    this.service = service;
    this.settings = { UPSTREAM_URL: service.options.url.href.replace(/\/$/, '') };
  }

  /** Sends a GET of a list. The page size is sent if its name is known. */
  list(path: string, rows: number | string, others: Record<string, string> = {}): Promise<Answer> {
    const { pageSize } = this.names;
    return this.service.get(path, { ...(pageSize && { [pageSize]: String(rows) }), ...others });
  }

  /** Reads the rows of a list, once. Empty if REST returns no such list. */
  async rows(kind: ResourceKind, path = `/v1/${kind}`): Promise<readonly unknown[]> {
    if (!this.pages.has(kind)) {
      const page = toListPage(kind, await this.list(path, maxRows));
      if (page !== undefined) this.pages.set(kind, page);
    }
    return this.pages.get(kind)?.rows ?? [];
  }
}

/** The page in a response. Undefined if the response is no list of this kind. */
export function toListPage(kind: ResourceKind, { status, json }: Answer): Page | undefined {
  if (status !== 200 || !isJsonObject(json) || !Array.isArray(json[kind])) return undefined;
  return { rows: json[kind], nextPageToken: json.nextPageToken };
}

/** A text in a record, such as `recipient.phoneNumber`. Undefined if it is no text, or empty. */
export function textIn(record: unknown, path: string): string | undefined {
  let value: unknown = record;
  for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The paths of records, such as `/v1/orders/7`. Names of another form are left out. */
export function recordPaths(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names)].flatMap((name) => {
    const [, collection, id = ''] = /^(\w+)\/([^/]+)$/.exec(name ?? '') ?? [];
    return collection === undefined ? [] : [`/v1/${collection}/${encodeURIComponent(id)}`];
  });
}
