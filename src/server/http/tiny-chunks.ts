import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** So many chunks of a body in a row are measured together. */
const chunksMeasured = 1_000;
/** What these chunks have on average, at least. A slow mobile network sends hundreds of bytes at a time. */
const minAverageBytes = 64;

/**
 * A request that breaks its connection when its body comes in tiny chunks. To take a chunk costs about 2 µs, and a packet
 * can have thousands of chunks. Such a sender gets no response.
 */
export class MeteredRequest extends IncomingMessage {
  #chunks = 0;
  #bytes = 0;

  /** Node's parser calls it for each chunk of the body, and with null at the end. */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk !== null) {
      this.#chunks += 1;
      this.#bytes += chunk.length;
      if (this.#chunks === chunksMeasured) {
        if (this.#bytes < chunksMeasured * minAverageBytes) {
          breakConnection(this.socket);
          return false;
        }
        this.#chunks = 0;
        this.#bytes = 0;
      }
    }
    return super.push(chunk, encoding);
  }
}

/** `HTTPParser.kOnBody`: where Node's parser has its callback for a chunk. */
const onBody = 3;

/**
 * Breaks a connection from within its parser. The parser has read up to 64 KiB, and would call back for each chunk in them:
 * 20 ms for one-byte chunks. Without a callback it takes less than 1 ms. Node uses a parser again after its connection has
 * closed, which is later than `setImmediate`.
 */
function breakConnection(socket: Socket): void {
  socket.destroy();
  const { parser } = socket as { parser?: { [onBody]?: unknown } | null }; // A property that Node does not document.
  const callback = parser?.[onBody];
  if (!parser || typeof callback !== 'function') return;
  parser[onBody] = undefined;
  setImmediate(() => {
    parser[onBody] = callback;
  });
}
