/** The key of one form: the same for the same input, and a new one when the input changes. */
export class IdempotencyKey {
  #input = '';
  #key = '';

  /** Call it at each submit. Without a result, the same input then gets the result of the first submit. */
  of(input: object): string {
    const text = JSON.stringify(input);
    if (text !== this.#input) [this.#input, this.#key] = [text, crypto.randomUUID()];
    return this.#key;
  }

  /**
   * Call it with the result of each submit, outside of rendering. The server keeps a success and `NoOffer` for the key, so
   * the same input is then a new wish of the user, with a new key.
   */
  settle(result: { __typename: string } | null | undefined): void {
    const isKept = result?.__typename.endsWith('Success') || result?.__typename === 'NoOffer';
    if (isKept) this.#input = '';
  }
}
