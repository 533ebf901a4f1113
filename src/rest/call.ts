/** A request to REST. The REST client adds the base address and the access token. */
export interface RestCall {
  method: 'GET' | 'POST' | 'PATCH';
  /** Relative to the base address. Contains validated identifiers only. */
  path: string;
  /** The path with `{id}` in place of each identifier. Derived from `path` by default. */
  route?: string;
  /** Query parameters. Those with the value undefined are not sent. */
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** The requested media type, by default JSON. */
  accept?: string;
}

/** The name of a call in logs and errors. It has no query, which may contain a person's name or phone number. */
export function describeCall(call: RestCall): string {
  return `${call.method} ${call.path}`;
}

/** The path with `{id}` in place of each identifier. The number of routes is small and fixed. */
export function callRoute({ path, route }: RestCall): string {
  return route ?? path.replace(/\/([a-z]+)\/(?!mine$)[^/]+/g, '/$1/{id}');
}

/** Whether a call changes nothing in REST. A read may be repeated after any failure. */
export function isRead({ method }: RestCall): boolean {
  return method === 'GET';
}

/** The query string of a call, such as `?pageSize=20`, or the empty string. */
export function queryString({ query }: RestCall): string {
  if (query === undefined) return '';
  const sent = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return sent.length === 0 ? '' : `?${new URLSearchParams(sent)}`;
}
