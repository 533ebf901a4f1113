const json = 'application/json';
const jsonTypes = [json, 'application/graphql-response+json'];
const jsonInUtf8 = /^application\/json\s*(?:;\s*charset=(?:utf-?8|"utf-?8")\s*)?$/i;

/** Whether a `content-type` is JSON in UTF-8. */
export function isJson(contentType: string | null): boolean {
  return contentType !== null && jsonInUtf8.test(contentType);
}

/** The media type of the response, if one is accepted. The first one wins. */
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
