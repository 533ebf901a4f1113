const maxDelayTurns = 50;

/**
 * The turns of the event loop. Node accepts one connection in a turn, so work that starts in each turn would make a new
 * connection wait behind all of it. While connections come, nothing more starts, for at most 50 turns: a flood of
 * connections must not stop the work.
 */
export class LoopTurns {
  #listeners: (() => void)[] = [];
  #newConnections = 0;
  #delayTurns = 0;

  onConnection(): void {
    this.#newConnections += 1;
  }

  /** Calls a listener once, after the first turn without a new connection, or after 50 turns. */
  onNext(listener: () => void): void {
    if (this.#listeners.length === 0) setImmediate(this.#endTurn);
    this.#listeners.push(listener);
  }

  readonly #endTurn = (): void => {
    if (this.#newConnections > 0 && this.#delayTurns < maxDelayTurns) {
      this.#newConnections = 0;
      this.#delayTurns += 1;
      setImmediate(this.#endTurn);
      return;
    }
    this.#newConnections = 0;
    this.#delayTurns = 0;
    const listeners = this.#listeners;
    // What starts from here on belongs to the next turn.
    this.#listeners = [];
    for (const listener of listeners) listener();
  };
}
