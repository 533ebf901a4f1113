import { WaybillError } from '../../rest/errors.ts';

/**
 * The most UTF-16 characters in the response of an operation. A character takes 1 to 3 bytes of UTF-8, so this is 8 to
 * 24 MiB. The backslashes of JSON are not counted. A page of 1,000 orders with each field once, and with notes of 2,048
 * characters ("Order"), has about 4,000,000 characters.
 */
export const maxResponseCharacters = 8_388_608;

/** A flat allowance for each value: its quotes, colon, comma and brackets, and the digits of a number. */
const charactersAround = 8;

/** The characters that a value takes beside its own text. @param key the response name, or none in a list. */
export function charactersBeside(key = ''): number {
  return key.length + charactersAround;
}

/** The response has more characters than an operation may return, so the rest of it is left out. */
export class ResponseTooLongError extends WaybillError {
  constructor(characters: number) {
    super(
      `Expected a response of at most ${maxResponseCharacters} characters, but it has ${characters} up to this field. ` +
        'Lower "first", select fewer fields, or split the operation into several.',
    );
  }
}
