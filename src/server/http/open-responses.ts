import type { ServerResponse } from 'node:http';
import { LinkedList, type ListNode } from '../../concurrency/linked-list.ts';
import { type Owner, OwnerUsage } from '../../concurrency/owner.ts';
import { type HttpError, overloaded } from './http-error.ts';

/** Response bytes of a process that no client has taken yet. One token has half. */
export const defaultUnreadBudgetBytes = 67_108_864;

/** While the budget is used up, a client that takes no byte for this time loses its connection. */
const maxStallMs = 5_000;
// Within this time, operations of one token produce a few MB.
const measureMs = 50;

interface OpenResponse extends ListNode<OpenResponse> {
  readonly owner: Owner;
  readonly response: ServerResponse;
  /** Whether the request counts, because its response is not written yet. */
  isAtWork: boolean;
  /** The bytes that the operating system had not taken when they were last measured. */
  queuedBytes: number;
  /** When the queued bytes last changed. A time of `performance.now()`. */
  changedAtMs: number;
}

/**
 * The open responses to GraphQL operations. A request counts until the server has written its response. From then on, the
 * bytes count that its client has not taken (docs/design/how-the-server-is-shared.md#unread-bytes).
 */
export class OpenResponses {
  readonly #list = new LinkedList<OpenResponse>();
  readonly #requestsAtWork: OwnerUsage;
  readonly #budgetBytes: number;
  readonly #onMeasured: () => void;
  #unreadBytes: OwnerUsage;
  #timer: NodeJS.Timeout | undefined;

  /** @param onMeasured called after each measurement, which may have changed `isOpenTo`. */
  constructor(requestsAtOnce: number, budgetBytes: number, onMeasured: () => void) {
    this.#requestsAtWork = new OwnerUsage(requestsAtOnce, Math.ceil(requestsAtOnce / 2));
    this.#budgetBytes = budgetBytes;
    this.#unreadBytes = this.#noUnreadBytes();
    this.#onMeasured = onMeasured;
  }

  overloadError(): HttpError | undefined {
    return this.#requestsAtWork.isUsedUp ? tooManyRequests('all tokens') : undefined;
  }

  /**
   * Counts a request until its response is written.
   * @returns the error if the server, or the owner, is at its limit.
   */
  admit(owner: Owner, response: ServerResponse): HttpError | undefined {
    const excess = this.#requestsAtWork.excess(owner);
    if (excess !== undefined) return tooManyRequests(excess.scope);
    this.watch(owner, response, true);
    return undefined;
  }

  /** Whether an owner may produce more response bytes now. */
  isOpenTo(owner: Owner): boolean {
    return this.#unreadBytes.ownExcess(owner) === undefined;
  }

  /** Counts the unread bytes of a response until it is closed. `isAtWork`: its request counts too. */
  watch(owner: Owner, response: ServerResponse, isAtWork = false): void {
    // A closed response emits no second `close`, and would be counted forever.
    if (response.closed) return;
    if (isAtWork) this.#requestsAtWork.add(owner, 1);
    const list = { before: undefined, after: undefined };
    const entry: OpenResponse = { ...list, owner, response, isAtWork, queuedBytes: 0, changedAtMs: 0 };
    this.#list.add(entry);
    // Emitted once. To remove a listener takes longer than to add one.
    response.on('close', () => {
      this.#endWork(entry);
      this.#list.remove(entry);
    });
    // The timer stops itself when no response is open.
    this.#timer ??= setInterval(() => this.#measure(), measureMs).unref();
  }

  #endWork(entry: OpenResponse): void {
    if (!entry.isAtWork) return;
    entry.isAtWork = false;
    this.#requestsAtWork.add(entry.owner, -1);
  }

  #noUnreadBytes(): OwnerUsage {
    return new OwnerUsage(this.#budgetBytes, this.#budgetBytes / 2);
  }

  /** Looks at all open responses: a pipelined one that waits behind another emits no event of its own. */
  #measure(): void {
    const now = performance.now();
    const unreadBytes = this.#noUnreadBytes();
    for (let entry = this.#list.first; entry !== undefined; entry = entry.after) {
      const bytes = entry.response.writableLength;
      const queuedBytes = countQueuedBytes(entry.response);
      if (queuedBytes === 0 || queuedBytes !== entry.queuedBytes) entry.changedAtMs = now;
      entry.queuedBytes = queuedBytes;
      if (bytes > 0) unreadBytes.add(entry.owner, bytes);
      if (entry.response.writableEnded) this.#endWork(entry);
    }
    this.#unreadBytes = unreadBytes;
    this.#closeStalled(now);
    this.#onMeasured();
    if (this.#list.first !== undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Closes the connections of clients that take nothing, until there is room. The oldest response is first. Tokens that REST
   * has not accepted lose theirs when they use up their own part.
   */
  #closeStalled(now: number): void {
    const unreadBytes = this.#unreadBytes;
    for (let entry = this.#list.first; entry !== undefined; entry = entry.after) {
      const { owner, response } = entry;
      const isOfOthers = owner.connection !== undefined;
      if (!unreadBytes.isUsedUp && !(isOfOthers && unreadBytes.isUsedUpByOthers)) continue;
      if (entry.queuedBytes === 0 || now - entry.changedAtMs < maxStallMs) continue;
      unreadBytes.add(owner, -response.writableLength);
      // The connection breaks, so that the client cannot mistake a partial response for a complete one.
      response.socket?.destroy();
    }
  }
}

function tooManyRequests(scope: string): HttpError {
  return overloaded(`The server is at its limit of GraphQL requests for ${scope}. Retry later.`);
}

/** The bytes that the operating system has not taken. 0 for a response that waits behind another one. */
function countQueuedBytes({ socket }: ServerResponse): number {
  if (socket === null) return 0;
  // A body is one write, so `writableLength` changes only at its end. Node's own timeout of sockets reads this number.
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? socket.writableLength;
}
