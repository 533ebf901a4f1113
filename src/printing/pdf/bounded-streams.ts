import { constants, inflateRawSync } from 'node:zlib';
import { decodePDFRawStream, PDFArray, PDFContext, PDFDict, PDFName, PDFRawStream } from '@cantoo/pdf-lib';

/** What a stream of the PDF library has, beyond its public types. */
interface DecodeStream {
  buffer: Uint8Array;
  bufferLength: number;
  eof: boolean;
  decode(): Uint8Array;
}
interface DecodePrototype {
  readBlock(this: DecodeStream & { stream: { pos: number; decode(): Uint8Array } }): void;
  ensureBuffer(this: DecodeStream, requested: number): Uint8Array;
}

/** The bytes that the streams of one label may still inflate to. */
let bytesLeft = 0;
let isExceeded = false;

/** A label inflates to more than the bytes that were allowed. */
export class InflationError extends Error {}

/** The filters that may enlarge their input, or stand before one that does. Others are of images. */
const filters = ['FlateDecode', 'LZWDecode', 'ASCII85Decode', 'ASCIIHexDecode', 'RunLengthDecode'];

/**
 * Lets the PDF library inflate with zlib, and only as far as `withInflationLimit` allows. Its own code takes ten times as
 * long, and has no bound: a label of a few kilobytes may inflate to gigabytes.
 */
export function boundInflation(): void {
  // The library does not export the classes of its streams. A sample of one leads to them.
  const dict = PDFDict.withContext(PDFContext.create());
  dict.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
  const sample = decodePDFRawStream(PDFRawStream.of(dict, Uint8Array.of(0x78, 0x9c)));
  const flate: DecodePrototype = Object.getPrototypeOf(sample);
  const base: DecodePrototype = Object.getPrototypeOf(flate);
  const { ensureBuffer } = base;
  base.ensureBuffer = function ensureBounded(requested) {
    const before = this.buffer.byteLength;
    if (requested - before > bytesLeft) exceed();
    const buffer = ensureBuffer.call(this, requested);
    bytesLeft -= buffer.byteLength - before;
    return buffer;
  };
  flate.readBlock = function inflateAll() {
    const source = this.stream.decode();
    // The library has read the header.
    this.buffer = inflate(source.subarray(this.stream.pos));
    this.bufferLength = this.buffer.length;
    this.eof = true;
  };
}

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    // Raw, and without its end: viewers accept such data too.
    const options = { maxOutputLength: Math.max(1, bytesLeft), finishFlush: constants.Z_SYNC_FLUSH };
    const inflated = inflateRawSync(bytes, options);
    bytesLeft -= inflated.length;
    return inflated;
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') exceed();
    throw error;
  }
}

function exceed(): never {
  isExceeded = true;
  throw new InflationError();
}

/**
 * Runs `work`, whose streams inflate to at most `maxBytes` together. @throws InflationError also where the library has
 * caught it
 */
export async function withInflationLimit<Value>(
  maxBytes: number,
  work: () => Promise<Value>,
): Promise<Value> {
  bytesLeft = maxBytes;
  isExceeded = false;
  const value = await work();
  if (isExceeded) throw new InflationError();
  return value;
}

/** Inflates a stream as far as its filters are known. @throws InflationError */
export function inflateForCheck(stream: PDFRawStream): void {
  const filter = stream.dict.lookup(PDFName.of('Filter'));
  const names =
    filter instanceof PDFArray ? filter.asArray().map((_name, index) => filter.lookup(index)) : [filter];
  const end = names.findIndex((name) => !filters.includes(String(name).slice(1)));
  const known = end === -1 ? names : names.slice(0, end);
  if (known.length === 0) return;
  const { context } = stream.dict;
  const dict = context.obj({ Filter: known.flatMap((name) => name ?? []) });
  try {
    decodePDFRawStream(PDFRawStream.of(dict, stream.contents)).decode();
  } catch (error) {
    // A viewer shows what it can of a damaged image.
    if (error instanceof InflationError) throw error;
  }
}
