/** A message channel to another process. */
export interface RpcChannel {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** The methods that a process offers to the other process. */
type Methods<Api> = { [Name in keyof Api]: (...args: never[]) => Promise<unknown> };

/** The other process of a channel. */
export interface RpcPeer<Remote extends Methods<Remote>> {
  /**
   * Calls a method of the other process.
   * @throws Error with that process's error text, or with the reason of `disconnect`.
   */
  call<Name extends keyof Remote & string>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ): ReturnType<Remote[Name]>;
  /** The other process has exited. Rejects pending and later calls with `reason`. */
  disconnect(reason: string): void;
}

type Message =
  | { id: number; name: string; args: never[] }
  | { id: number; value: unknown }
  | { id: number; error: string };

/**
 * Connects this process to another one over a message channel.
 * @param localMethods the methods of this process, which the other process may call.
 * @param errorText returns the text of an error of a local method, for the other process.
 */
export function connect<Remote extends Methods<Remote>, Local extends Methods<Local>>(
  channel: RpcChannel,
  localMethods: Local,
  errorText: (error: unknown) => string = String,
): RpcPeer<Remote> {
  const pendingCalls = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let disconnectReason: string | undefined;

  async function respond(id: number, name: string, args: never[]): Promise<void> {
    try {
      // The other process has the same types, so it calls an existing method with valid arguments.
      channel.send({ id, value: await localMethods[name as keyof Local](...args) });
    } catch (error) {
      channel.send({ id, error: errorText(error) });
    }
  }

  channel.onMessage((received) => {
    // All messages on the channel are sent by the `connect` of the other process.
    const message = received as Message;
    if ('name' in message) {
      void respond(message.id, message.name, message.args);
      return;
    }
    const call = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if ('error' in message) call?.reject(new Error(message.error));
    else call?.resolve(message.value);
  });

  return {
    call<Name extends keyof Remote & string>(name: Name, ...args: Parameters<Remote[Name]>) {
      const call = Promise.withResolvers<unknown>();
      if (disconnectReason === undefined) {
        lastId += 1;
        pendingCalls.set(lastId, call);
        channel.send({ id: lastId, name, args });
      } else {
        call.reject(new Error(disconnectReason));
      }
      // The other process has the same types, so its result has the type of the method.
      return call.promise as ReturnType<Remote[Name]>;
    },
    disconnect(reason) {
      disconnectReason = reason;
      for (const call of pendingCalls.values()) call.reject(new Error(reason));
      pendingCalls.clear();
    },
  };
}
