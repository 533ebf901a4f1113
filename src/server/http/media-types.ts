/**
 * Whether a `content-type` is JSON in UTF-8. As in HTTP, case does not matter, and spaces may surround media types
 * and parameter names.
 */
export function isJson(contentType: string | null): boolean {
  if (contentType === null) return false;
  // The value that nearly all clients send.
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (mediaType.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^(utf-?8|"utf-?8")$/.test(value.trim());
  });
}

const json = 'application/json';
const jsonTypes = [json, 'application/graphql-response+json'];
const streamTypes = ['multipart/mixed', 'text/event-stream'];

/**
 * The media type of the response to a request with this `accept`. The first accepted type wins, and JSON comes before
 * streams.
 * @returns undefined if no supported type is accepted.
 */
export function responseTypeFor(accept: string | null | undefined): string | undefined {
  // The values that nearly all clients send.
  if (!accept || accept === '*/*' || accept === json) return json;
  const ranges = parseWeights(accept).filter(({ parameters }) => parameters.every(isUtf8));
  function placeOf(type: string): number {
    // As in HTTP, the most specific range decides.
    for (const name of [type, type.replace(/\/.*/, '/*'), '*/*']) {
      const place = ranges.findIndex((range) => range.name === name);
      if (place >= 0) return ranges[place]?.weight === 0 ? -1 : place;
    }
    return -1;
  }
  for (const types of [jsonTypes, streamTypes]) {
    const accepted = types.filter((type) => placeOf(type) >= 0);
    if (accepted.length > 0) return accepted.sort((one, other) => placeOf(one) - placeOf(other))[0];
  }
  return undefined;
}

function isUtf8(parameter: string): boolean {
  return !parameter.startsWith('charset=') || parameter === 'charset=utf-8';
}

/** An element of a header such as `accept`. */
export interface WeightedElement {
  name: string;
  parameters: string[];
  /** 0: refused. */
  weight: number;
}

/** Parses the elements of `accept` or `accept-encoding` in lower case (RFC 9110, section 12.4.2). */
export function parseWeights(header: string): WeightedElement[] {
  return header
    .toLowerCase()
    .split(',')
    .map((element) => {
      const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      const weight = quality === undefined ? 1 : Number(quality.slice(2));
      // An invalid weight refuses the element: the client may not be able to read it.
      return { name, parameters, weight: weight >= 0 && weight <= 1 ? weight : 0 };
    });
}
