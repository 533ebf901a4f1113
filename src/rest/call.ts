/** One request to REST, before the client's base address and the caller's bearer are added. */
export interface RestCall {
  method: 'GET' | 'POST' | 'PATCH';
  /** Below the base address, made of checked identifiers only. */
  path: string;
  /** The path with `{id}` in the place of identifiers; found in it when left out. */
  route?: string;
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** The media type that is asked for; JSON when left out. */
  accept?: string;
}

/** How logs and errors name a call: never with its query, which may hold a person's name or phone number. */
export function described(call: RestCall): string {
  return `${call.method} ${call.path}`;
}

/** The path with `{id}` in the place of identifiers, of which there are few. */
export function routeOf({ path, route }: RestCall): string {
  return route ?? path.replace(/\/(orders|shipments|quotes|channels|conversations)\/[^/]+/g, '/$1/{id}');
}

/** Whether a call changes nothing, so that it may be made again whatever came of it. */
export function isRead({ method }: RestCall): boolean {
  return method === 'GET';
}

/** What follows the path in the request line: `?pageSize=20`, or nothing. */
export function queryString({ query }: RestCall): string {
  if (query === undefined) return '';
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${encoded(name)}=${encoded(value)}`;
  }
  return text;
}

// What a query holds as it is; numbers and most names are no more than that.
const plain = /^[\w*.-]*$/;

function encoded(text: string): string {
  return plain.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);
}
