import { WaybillError } from '../../rest/errors.ts';

/**
 * An idempotency key of a merchant, or the lock of an order or quote, which one write at a time may hold. Both parts are
 * digests: they reveal neither the merchant nor the client's key.
 */
export interface KeyName {
  readonly merchant: string;
  readonly id: string;
}

/** The right of a store's process to work on a key. It lasts while `holds` is true. */
export interface Claim {
  readonly key: KeyName;
  /** The store that made the claim. */
  readonly owner: string;
}

/** The state of a key after `claim`. */
export type ClaimResult =
  /**
   * The caller works on the key. `isResumed`: earlier work ended with an unknown outcome. `progress` is the last
   * checkpoint of that work; undefined if that work stored none. `lossAgeMs`: the store may have lost what it had
   * acknowledged before this time, in milliseconds. It is undefined where nothing was lost in the last 24 hours.
   */
  | { state: 'claimed'; claim: Claim; progress: unknown; isResumed: boolean; lossAgeMs?: number | undefined }
  | { state: 'done'; outcome: unknown }
  /**
   * `held`: this process or another one works on the key. `conflict`: the key belongs to another fingerprint. `full`: the
   * key is new, and the merchant has no room for new keys.
   */
  | { state: 'held' | 'conflict' | 'full' };

/**
 * Stores keys and locks beyond the life of a process. Processes share the keys, or take them over from each other. The
 * methods for keys and services reject with StoreUnavailableError if the store fails, responds too late, or waits for the
 * process that has the keys.
 */
export interface KeyStore {
  /**
   * The secret of all digests: 32 random bytes that belong to the stored keys and live as long. Needs no I/O.
   * @throws StoreUnavailableError before the store has read its keys for the first time.
   */
  secret(): Buffer;
  /**
   * Claims a key for the input with this fingerprint, in one atomic step. Each `claimed` gives the key a new lifetime.
   * If this rejects, the key is not claimed, or the store undoes the claim.
   */
  claim(key: KeyName, fingerprint: string): Promise<ClaimResult>;
  /**
   * Stores the progress of the work, as JSON, before the write that it describes is sent. Gives the key a new lifetime.
   * @throws ClaimLostError
   */
  checkpoint(claim: Claim, progress: unknown): Promise<void>;
  /**
   * Ends the work with its outcome, as JSON. Later claims get this outcome. The claim ends here, and with `abandon` and
   * `release`, even if they reject: the store then tries again until it succeeds. @throws ClaimLostError
   */
  finish(claim: Claim, outcome: unknown): Promise<void>;
  /**
   * Ends the work on a key with an unknown outcome. A lock is free then, and its last progress stays as a note for the
   * next claim, which gets `progress`, or without it the progress of the last checkpoint. @throws ClaimLostError
   */
  abandon(claim: Claim, progress?: unknown): Promise<void>;
  /** Frees the key, as if it had never been claimed. @throws ClaimLostError */
  release(claim: Claim): Promise<void>;
  /** Whether no other process can have had the key since the claim. Needs no I/O. */
  holds(claim: Claim): boolean;
  /**
   * Stores that this REST service has returned an organization to some token. A later 404 is then a failure, and does
   * not show that the service has no organizations. `service` is a digest. Has no expiry.
   */
  noteOrganizationShown(service: string): Promise<void>;
  /** Whether `noteOrganizationShown` was called for this service. */
  wasOrganizationShown(service: string): Promise<boolean>;
  /** Why the store refuses operations now, as sentences; undefined if the store works. */
  failure(): string | undefined;
  /** What has happened to the store's file since it was opened, as a sentence, although the store works. */
  fileProblem(): string | undefined;
  /** That the store may have lost what it had acknowledged in the last 24 hours, as a sentence. */
  failover(): string | undefined;
  /** Calls `listener` whenever `failure`, `fileProblem` or `failover` may have changed. */
  onReport(listener: () => void): void;
  /** Completes the pending operations and closes the store. Open claims become work with an unknown outcome. */
  close(): Promise<void>;
}

/** The work on a key may not go on: the key belongs to other work, or is gone. */
export class ClaimLostError extends WaybillError {
  constructor() {
    super(
      'This server could not keep the idempotencyKey reserved. Send the request again with the same key.',
    );
  }
}

/** The store failed or responded too late. The message says why, and what an operator can do. */
export class StoreUnavailableError extends WaybillError {}

/** A store cannot be used. The message says what was tried and what to do. That of a file starts with its name. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
}
