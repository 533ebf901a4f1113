import { WaybillError } from '../rest/errors.ts';

/** The server has no room for another document now. */
export class DocumentsBusyError extends WaybillError {}

/** The process that makes documents ended before the document was made. It has a bound of memory. */
export class PdfProcessError extends WaybillError {
  constructor() {
    super(
      'The process that makes the documents has stopped, perhaps because the labels need too much memory. Send the request again with fewer labels.',
    );
  }
}
