import { Readable } from 'node:stream';

/** A 2xx response that is handed on as it arrives, from its first bytes on. */
export interface StreamedResponse {
  contentType: string;
  /** Undefined where it is not known, or the body was compressed. */
  contentLength: string | undefined;
  /** Read it to its end or destroy it. It fails where REST's connection or the call does. */
  body: Readable;
}

/** Where the bytes of a streamed body come from. */
export interface BodySource {
  resume(): void;
  /** The body is closed. Breaks the response off where it is not whole. */
  close(error?: Error | null): void;
}

/** A body that asks its source for more as it is read, and breaks the response off where it is destroyed. */
export class StreamedBody extends Readable {
  readonly #source: BodySource;

  constructor(source: BodySource) {
    super();
    this.#source = source;
    // It may fail before it is read. The reader learns of that then.
    this.on('error', ignored);
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#source.close(error);
    callback(error);
  }
}

function ignored(): void {}
