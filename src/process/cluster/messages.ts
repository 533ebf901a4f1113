import type { TrustedDocuments } from '../../server/documents/trusted-documents.ts';
import type { MetricsPage, MetricsSnapshot } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';

/** What a worker does not read from the environment itself. */
export interface StartOptions {
  upstreamUrl: string;
  /** The access token for GraphiQL. */
  bearer: string | undefined;
  trustedDocuments: TrustedDocuments | undefined;
  /** Its secret gives all workers the same digests of access tokens and keys. */
  stateFile: string;
}

export type ToWorker =
  | { type: 'start'; options: StartOptions }
  /** REST rejected the access token of the tenant in a call of another worker. */
  | { type: 'token rejected'; tenantId: string }
  | { type: 'snapshot wanted' }
  | { type: 'metrics page'; page: MetricsPage }
  | { type: 'end'; reason: EndReason };

export type ToPrimary =
  | { type: 'listening'; url: string }
  /** With a text for the operator. */
  | { type: 'failed'; error: string }
  | { type: 'token rejected'; tenantId: string }
  | { type: 'snapshot'; snapshot: MetricsSnapshot }
  | { type: 'metrics page wanted' }
  /** The worker got SIGTERM. It serves until its replacement listens. */
  | { type: 'replacement wanted' };
