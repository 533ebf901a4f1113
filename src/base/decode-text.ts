import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';

/**
 * A larger text stays in pieces until it is parsed: one buffer and one string of a megabyte would hold the event loop
 * for up to 20 ms. Smaller texts are parsed faster as a whole.
 */
const maxWholeBytes = 524_288;

/**
 * Decodes a body by the charset of its `content-type`, by default UTF-8. Skips a byte order mark.
 * @returns undefined if the charset is unknown, or if the bytes are not valid in it. No character is ever replaced.
 */
export function decodeText(
  chunks: readonly Buffer[],
  contentType: string | string[] | undefined,
): string | undefined {
  const charset = /;\s*charset\s*=\s*["']?([^"';,\s]+)/i.exec(String(contentType))?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    return decodeCharset(Buffer.concat(chunks), charset);
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return bytes <= maxWholeBytes ? decodeUtf8(joined(chunks)) : decodePieces(chunks);
}

/** Decodes UTF-8 and skips a byte order mark. Undefined if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  return hasUtf8Mark(bytes) ? bytes.toString('utf8', 3) : bytes.toString('utf8');
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function hasUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** `charset`: a label of the Encoding Standard. The mark of `utf-16` tells the order of its bytes. */
function decodeCharset(bytes: Buffer, charset: string): string | undefined {
  const isBigEndian = charset === 'utf-16' && bytes[0] === 0xfe && bytes[1] === 0xff;
  try {
    return new TextDecoder(isBigEndian ? 'utf-16be' : charset, { fatal: true }).decode(bytes);
  } catch (error) {
    // The one is thrown for an unknown label, the other for bytes that are not valid.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function decodePieces(chunks: readonly Buffer[]): string | undefined {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let mayBeReplaced = false;
  const add = (piece: string) => {
    // `text` is empty until a piece has a character, so a mark that the network splits is found too.
    text += text === '' && piece.startsWith('\ufeff') ? piece.slice(1) : piece;
    mayBeReplaced ||= piece.includes('\ufffd');
  };
  for (const chunk of chunks) add(decoder.write(chunk));
  add(decoder.end());
  // U+FFFD may be in the bytes themselves, or stand for bytes that are not UTF-8.
  return mayBeReplaced && !isUtf8(Buffer.concat(chunks)) ? undefined : text;
}
