/** The key of a form: the same for the same input, and a new one when the input changes. */
export class IdempotencyKey {
  #input = '';
  #key = '';

  /** Call it at each submit. Without a result, the same input then gets the result of the first submit. */
  of(input: object): string {
    const text = JSON.stringify(input);
    if (text !== this.#input) [this.#input, this.#key] = [text, crypto.randomUUID()];
    return this.#key;
  }

  /** Call it after a success, so that the same input is then a new wish of the user. */
  clear(): void {
    this.#input = '';
  }
}
