import type { TrustedDocuments } from '../../server/documents/trusted-documents.ts';
import type { MetricsPage, MetricsSnapshot } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';

/** What a worker does not read from the environment itself. */
export interface StartOptions {
  upstreamUrl: string;
  /** The access token for the GraphiQL page; undefined for a live service. */
  bearer: string | undefined;
  trustedDocuments: TrustedDocuments | undefined;
  /** The file of idempotency keys. Its secret gives all workers the same digests of access tokens and keys. */
  stateFile: string;
}

/** The messages from the primary process to a worker. */
export type ToWorker =
  | { type: 'start'; options: StartOptions }
  /** REST rejected the access token of the tenant in a call of another worker. */
  | { type: 'token rejected'; tenantId: string }
  | { type: 'snapshot wanted' }
  | { type: 'metrics page'; page: MetricsPage }
  /** Drain and exit. */
  | { type: 'end'; reason: EndReason };

/** The messages from a worker to the primary process. */
export type ToPrimary =
  | { type: 'listening'; url: string }
  /** The start has failed, with a text for the operator. */
  | { type: 'failed'; error: string }
  | { type: 'token rejected'; tenantId: string }
  | { type: 'snapshot'; snapshot: MetricsSnapshot }
  | { type: 'metrics page wanted' }
  /** The worker got SIGTERM. It serves until its replacement listens. */
  | { type: 'replacement wanted' };
