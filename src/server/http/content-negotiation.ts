const json = 'application/json';
const jsonTypes = [json, 'application/graphql-response+json'];

// A name, and a value without blanks or in quotes (RFC 9110, section 5.6.6).
const parameter = String.raw`([^\s"=;,]+)(?:[ \t]*=[ \t]*(?:([^\s"=;,]+)|"((?:[^"\\]|\\.)*)"))?`;
const jsonType = new RegExp(String.raw`^application/json[ \t]*(?:;[ \t]*(?:${parameter}[ \t]*)?)*$`, 'i');
const parameters = new RegExp(parameter, 'g');

/** Whether a `content-type` is JSON in UTF-8. Parameters other than `charset` have no meaning for JSON. */
export function isJson(contentType: string | null | undefined): boolean {
  // The value that most clients send.
  if (contentType === json) return true;
  if (!contentType || !jsonType.test(contentType)) return false;
  return contentType
    .matchAll(parameters)
    .filter(([, name]) => name?.toLowerCase() === 'charset')
    .every(([, , word, quoted]) => /^utf-?8$/i.test(word ?? quoted ?? ''));
}

/** The media type of the response, if one is accepted. Of two, the one that `accept` names first. */
export function responseType(accept: string | null | undefined): string | undefined {
  // The values that nearly all clients send.
  if (!accept || accept === '*/*' || accept === json) return json;
  const ranges = parseWeights(accept);
  // As in HTTP, the most specific range decides.
  const rangeFor = (type: string) =>
    [type, 'application/*', '*/*']
      .map((name) => ranges.findIndex((range) => range.name === name))
      .find((index) => index >= 0);
  const [accepted] = jsonTypes
    .map((type) => ({ type, index: rangeFor(type) ?? -1 }))
    .filter(({ index }) => (ranges[index]?.weight ?? 0) > 0)
    .sort((one, other) => one.index - other.index);
  return accepted?.type;
}

/** Whether an `accept` names a type of JSON, with any weight. */
export function namesJson(accept: string): boolean {
  return parseWeights(accept).some(({ name }) => jsonTypes.includes(name));
}

/** Whether an `accept` names HTML, as that of a browser that opens an address. */
export function acceptsHtml(accept: string | null): boolean {
  return parseWeights(accept ?? '').some(({ name, weight }) => name === 'text/html' && weight > 0);
}

export type ContentCoding = 'br' | 'gzip';

/** Smaller bodies are not compressed, because they fit into one packet of the network anyway. */
const minCompressedBytes = 1_024;

/**
 * The coding of a response body by `accept-encoding` (RFC 9110, section 12.5.3). At equal weights, Brotli comes before
 * gzip, and both come before no coding.
 * @returns undefined if the body is too small, or if its client accepts no coding.
 */
export function contentCoding(
  byteLength: number,
  acceptEncoding: string | null | undefined,
): ContentCoding | undefined {
  if (byteLength < minCompressedBytes || !acceptEncoding) return undefined;
  const weights = new Map(parseWeights(acceptEncoding).map(({ name, weight }) => [name, weight]));
  const others = weights.get('*') ?? 0;
  const br = weights.get('br') ?? others;
  const gzip = weights.get('gzip') ?? others;
  const identity = weights.get('identity') ?? 0;
  if (Math.max(br, gzip) === 0 || identity > Math.max(br, gzip)) return undefined;
  return br >= gzip ? 'br' : 'gzip';
}

/** The elements of `accept` or `accept-encoding` in lower case (RFC 9110, section 12.4.2). Weight 0: refused. */
export function parseWeights(header: string): { name: string; weight: number }[] {
  return header
    .toLowerCase()
    .split(',')
    .map((element) => {
      const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      const weight = quality === undefined ? 1 : Number(quality.slice(2));
      // An invalid weight refuses the element: the client may not be able to read it.
      return { name, weight: weight >= 0 && weight <= 1 ? weight : 0 };
    });
}
