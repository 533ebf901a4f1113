/** The headers of a request, of Node or of `fetch`. Names are in lower case. */
export type HeaderReader = Pick<Headers, 'get'>;
