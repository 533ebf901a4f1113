import type { TrustedDocuments } from '../../server/documents/trusted-documents.ts';
import type { MetricsPage, MetricsSnapshot } from '../../telemetry/metrics.ts';
import type { EndReason } from '../signals.ts';

/** The data that the primary process passes to a worker. The worker itself reads the settings of the environment. */
export interface StartOptions {
  upstreamUrl: string;
  /** The access token for the GraphiQL page; undefined for a live service. */
  bearer: string | undefined;
  trustedDocuments: TrustedDocuments | undefined;
  /** The file of idempotency keys. Its secret gives all workers the same digests of access tokens and keys. */
  stateFile: string;
}

/** The methods of a worker that the primary process calls. */
export interface WorkerMethods {
  /** Starts the server, and returns its URL. @throws Error with a text for the operator. */
  start(startOptions: StartOptions): Promise<string>;
  /** Returns the current metrics of the worker. */
  snapshot(): Promise<MetricsSnapshot>;
  /** REST rejected the access token of the tenant in a call of another worker. */
  tokenRejected(tenantId: string): Promise<void>;
  /** Drains the worker and exits. The call gets no response, because the process exits. */
  end(reason: EndReason): Promise<void>;
}

/** The methods of the primary process that a worker calls. */
export interface PrimaryMethods {
  /** Returns the metrics of all workers as one page. */
  metricsPage(): Promise<MetricsPage>;
  /** REST rejected the access token of the tenant. The primary process notifies the other workers. */
  tokenRejected(tenantId: string): Promise<void>;
  /** Reports the final metrics of the worker, before it exits. */
  lastSnapshot(snapshot: MetricsSnapshot): Promise<void>;
  /** The worker got SIGTERM. The primary process starts another worker, and then calls `end`. */
  requestReplacement(): Promise<void>;
}
