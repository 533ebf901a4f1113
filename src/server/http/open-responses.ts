import type { ServerResponse } from 'node:http';
import { LinkedList, type ListNode } from '../../concurrency/linked-list.ts';
import type { Tenant } from '../../tenancy/tenant.ts';

/** The default budget of a process for response bytes that no client has taken yet. One token has half. */
export const defaultUnreadBudgetBytes = 67_108_864;

/** While the budget is used up, a client that takes no byte for this time loses its connection. */
const maxStallMs = 5_000;
// Within this time, operations of one token produce a few MB.
const measureMs = 50;

/**
 * The tenant of all operations that need only the schema. They need no access token, so anybody could use up the share
 * of this tenant. While its share is used up, its clients therefore lose their connections as if the budget were.
 */
export const schemaReader: Tenant = { id: 'schema', writes: 0 };

/** The response to an operation, from its admission until it is closed. */
interface OpenResponse extends ListNode<OpenResponse> {
  readonly tenant: Tenant;
  readonly response: ServerResponse;
  /** The bytes that the operating system had not taken when they were last measured. */
  queuedBytes: number;
  /** When the queued bytes last changed. A time of `performance.now()`. */
  changedAtMs: number;
}

/**
 * The open responses to GraphQL operations, with the bytes that their clients have not taken yet
 * (docs/decisions/0015-fair-operations.md).
 */
export class OpenResponses {
  readonly #list = new LinkedList<OpenResponse>();
  readonly #budgetBytes: number;
  readonly #onMeasured: () => void;
  /** Only tenants with unread bytes. */
  #unreadByTenant = new Map<Tenant, number>();
  #unreadBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param onMeasured called after each measurement, which may have changed `isBelowShare`.
   */
  constructor(budgetBytes: number, onMeasured: () => void) {
    this.#budgetBytes = budgetBytes;
    this.#onMeasured = onMeasured;
  }

  /** Watches a response until it is closed. `response` is undefined for a call through `fetch`. */
  watch(tenant: Tenant, response: ServerResponse | undefined): void {
    if (response === undefined || response.closed) return;
    const entry: OpenResponse = {
      before: undefined,
      after: undefined,
      tenant,
      response,
      queuedBytes: 0,
      changedAtMs: 0,
    };
    this.#list.add(entry);
    response.once('close', () => this.#list.remove(entry));
    // The timer stops itself when no response is open.
    this.#timer ??= setInterval(() => this.#measure(), measureMs).unref();
  }

  /** Whether a token may produce more response bytes now. */
  isBelowShare(tenant: Tenant): boolean {
    const unread = this.#unreadByTenant.get(tenant);
    if (unread === undefined) return true;
    // When the budget is used up, all tokens with unread bytes have equal shares. A token without any goes on.
    const shares = this.#isUsedUp ? Math.max(2, this.#unreadByTenant.size) : 2;
    return unread < this.#budgetBytes / shares;
  }

  get #isUsedUp(): boolean {
    return this.#unreadBytes >= this.#budgetBytes;
  }

  /** Adds the unread bytes up. A sum of all open responses also sees pipelined ones, which emit no event of their own. */
  #measure(): void {
    const now = performance.now();
    this.#unreadByTenant = new Map();
    this.#unreadBytes = 0;
    for (let entry = this.#list.first; entry !== undefined; entry = entry.after) {
      const bytes = entry.response.writableLength;
      const queuedBytes = queuedBytesOf(entry.response);
      if (queuedBytes === 0 || queuedBytes !== entry.queuedBytes) entry.changedAtMs = now;
      entry.queuedBytes = queuedBytes;
      if (bytes === 0) continue;
      this.#unreadByTenant.set(entry.tenant, (this.#unreadByTenant.get(entry.tenant) ?? 0) + bytes);
      this.#unreadBytes += bytes;
    }
    if (this.#isUsedUp) this.#closeStalled(now, this.#unreadBytes, this.#budgetBytes);
    const schemaBytes = this.#unreadByTenant.get(schemaReader) ?? 0;
    this.#closeStalled(now, schemaBytes, this.#budgetBytes / 2, schemaReader);
    this.#onMeasured();
    if (this.#list.first !== undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Closes the connections of clients that take nothing, until their unread bytes are below the limit. The oldest
   * response is first.
   * @param tenant closes only the connections of this tenant.
   */
  #closeStalled(now: number, unreadBytes: number, limitBytes: number, tenant?: Tenant): void {
    let remainingBytes = unreadBytes;
    for (let entry = this.#list.first; entry !== undefined; entry = entry.after) {
      if (remainingBytes < limitBytes) return;
      if (tenant !== undefined && entry.tenant !== tenant) continue;
      if (entry.queuedBytes === 0 || now - entry.changedAtMs < maxStallMs) continue;
      remainingBytes -= entry.response.writableLength;
      // The connection breaks, so that the client cannot mistake a partial response for a complete one.
      entry.response.socket?.destroy();
    }
  }
}

/** The bytes that a socket has not passed to the operating system. 0 for a response that waits behind another one. */
function queuedBytesOf({ socket }: ServerResponse): number {
  if (socket === null) return 0;
  // A body is one write, so `writableLength` changes only at its end. Node's own timeout of sockets reads this number.
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? socket.writableLength;
}
