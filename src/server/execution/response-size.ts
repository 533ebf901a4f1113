import { WaybillError } from '../../rest/errors.ts';

/**
 * The most UTF-16 characters in the response of an operation: 8 to 24 MiB of UTF-8, without escapes. A page of 1,000 orders
 * with each field once, and with notes of 2,048 characters ("Order"), has about 4,000,000.
 */
export const maxResponseCharacters = 8_388_608;

/** Quotes, colon, comma and brackets, or a number. */
const charactersAround = 8;

/** The characters of a value in the response, without those of its text. @param key the response name, or none in a list. */
export function charactersBeside(key = ''): number {
  return key.length + charactersAround;
}

/** The response has more characters than an operation may return, so the rest of it is left out. */
export class ResponseTooLongError extends WaybillError {
  constructor(characters: number) {
    super(
      `Expected a response of at most ${maxResponseCharacters} characters, but ${characters} came until this field. ` +
        'Lower "first", select fewer fields, or split the operation into several.',
    );
  }
}
