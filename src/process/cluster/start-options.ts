import type { TrustedDocuments } from '../../server/documents/trusted-documents.ts';
import type { Counts, MetricsPage } from '../../telemetry/metrics.ts';
import type { WorkerStore } from '../../writes/shared-store.ts';

/** What a worker needs besides the settings, which it reads itself. */
export interface StartOptions {
  upstreamUrl: string;
  bearer: string | undefined;
  trustedDocuments: TrustedDocuments | undefined;
  /** The same for all, so that they know the same tokens and keys. In base64. */
  secret: string;
}

/** What the primary process asks of a worker. */
export interface Worker {
  /** Answers where it listens. @throws what the operator is to be told. */
  start(startOptions: StartOptions): Promise<string>;
  counts(): Promise<Counts>;
  /** Another worker was told by REST that it does not take the token of this tenant. */
  refused(tenantId: string): Promise<void>;
  /** Drains and ends. There is no answer but its end. `isReplaced`: another one has taken its place. */
  end(isReplaced: boolean): Promise<void>;
}

/** What a worker asks of the primary process: where keys are remembered, and more. */
export interface Primary extends Omit<WorkerStore, 'leave'> {
  metricsPage(): Promise<MetricsPage>;
  /** REST does not take the token of this tenant, as the other workers are to know. */
  tokenRejected(tenantId: string): Promise<void>;
  /** What it has counted until its end. */
  lastCounts(counts: Counts): Promise<void>;
  /** It was told to end, and does once another one has taken its place and the primary process says so. */
  leave(): Promise<void>;
}
