/** A way to another process, which may end. */
export interface RpcChannel {
  send(message: unknown): void;
  onMessage(take: (message: unknown) => void): void;
}

/** What can be asked of a process. */
type Methods<Api> = { [Name in keyof Api]: (...given: never[]) => Promise<unknown> };

/** The other process. */
export interface RpcPeer<Remote extends Methods<Remote>> {
  /** @throws Error with the text of what the other process threw, or that says that it has ended. */
  call<Name extends keyof Remote & string>(
    name: Name,
    ...given: Parameters<Remote[Name]>
  ): ReturnType<Remote[Name]>;
  /** The other process is gone: who still waits for it is told `why`. */
  hangUp(why: string): void;
}

type Message =
  | { id: number; name: string; given: never[] }
  | { id: number; value: unknown }
  | { id: number; error: string };

/**
 * Asks another process, and answers what it asks with `own`.
 * @param textOf the text of an error, for the other process.
 */
export function connect<Remote extends Methods<Remote>, Own extends Methods<Own>>(
  line: RpcChannel,
  own: Own,
  textOf: (error: unknown) => string = String,
): RpcPeer<Remote> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let count = 0;
  let ended: string | undefined;

  async function answer(id: number, name: string, given: never[]): Promise<void> {
    try {
      // The other process calls what its type of this one has.
      line.send({ id, value: await own[name as keyof Own](...given) });
    } catch (error) {
      line.send({ id, error: textOf(error) });
    }
  }

  line.onMessage((received) => {
    // Nobody else sends any.
    const message = received as Message;
    if ('name' in message) {
      void answer(message.id, message.name, message.given);
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if ('error' in message) asked?.reject(new Error(message.error));
    else asked?.resolve(message.value);
  });

  return {
    call<Name extends keyof Remote & string>(name: Name, ...given: Parameters<Remote[Name]>) {
      const asked = Promise.withResolvers<unknown>();
      if (ended === undefined) {
        count += 1;
        waiting.set(count, asked);
        line.send({ id: count, name, given });
      } else {
        asked.reject(new Error(ended));
      }
      // The other process answers as its type says.
      return asked.promise as ReturnType<Remote[Name]>;
    },
    hangUp(why) {
      ended = why;
      for (const asked of waiting.values()) asked.reject(new Error(why));
      waiting.clear();
    },
  };
}
