import type { Loaders } from '../loaders/loaders.ts';
import type { CreatedDocument, DocumentRequest } from '../printing/label-documents.ts';
import type { Writes } from '../writes/writes.ts';

export interface ReportedError {
  message: string;
  code: string;
  /** Whether the same request may succeed when the client repeats it. */
  retryable: boolean;
  /** Absent if REST named no delay before a retry. */
  retryAfterMs?: number;
}

/** One for each operation. */
export interface Context {
  /** After one of `writes`, the loaders return the new data. */
  readonly loaders: Loaders;
  readonly writes: Writes;
  /** ISO 4217 code of the currency of amounts for which the REST interface names none. */
  readonly currency: string;
  /** For a result that reports the error as data, not as a field error. */
  reportError(error: unknown): ReportedError;
  /** This server's own URL of the label PDF of a shipment. */
  labelUrl(shipmentName: string): string;
  /** Makes a PDF of labels (src/printing/label-documents.ts). */
  createLabelDocument(request: DocumentRequest): Promise<CreatedDocument>;
  /** This server's own URL of a document. */
  documentUrl(id: string): string;
}
