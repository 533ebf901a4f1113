/** The access token of the app. */
export interface Session {
  /** Returns the current access token. */
  token(): string;
  /** Gets the next token. Requests at the same time share one call. Does nothing if `refused` is an older token. */
  refresh(refused: string): Promise<void>;
}

/** @param getToken asks your own backend for the next access token of the merchant */
export function createSession(first: string, getToken: () => Promise<string>): Session {
  let token = first;
  let running: Promise<void> | undefined;
  return {
    token: () => token,
    refresh(refused) {
      if (refused !== token) return Promise.resolve();
      running ??= getToken()
        .then((next) => {
          token = next;
        })
        .finally(() => {
          running = undefined;
        });
      return running;
    },
  };
}
