// The body of a response that is streamed, not buffered: a shipment label. Created by incoming-response.ts.

import { Readable } from 'node:stream';

/** A 2xx response whose body is passed on as the bytes arrive. Available once the first bytes have arrived. */
export interface StreamedResponse {
  contentType: string;
  /** The `content-length` header. Undefined if absent, or if the body was compressed. */
  contentLength: string | undefined;
  /** The reader must read the body to the end or destroy the body. Fails if the connection or the call fails. */
  body: Readable;
}

/** The source of the bytes of a streamed body. */
export interface BodySource {
  /** Called when the reader wants more bytes. */
  resume(): void;
  /** Called when the body is closed. Aborts an incomplete response. */
  close(error?: Error | null): void;
}

/** A body that requests bytes from the source while read. Destroying the body aborts the response. */
export class StreamedBody extends Readable {
  readonly #source: BodySource;

  constructor(source: BodySource) {
    super();
    this.#source = source;
    // Without a listener, a failure before the first read would crash the process. The reader still gets the error.
    this.on('error', ignoreError);
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#source.close(error);
    callback(error);
  }
}

function ignoreError(): void {}
