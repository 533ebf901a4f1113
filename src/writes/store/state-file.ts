import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** "WAYB" in ASCII: marks the files of this store. */
export const applicationId = 0x57415942;

/** The version of the tables. A file of another version is not opened. */
export const schemaVersion = 1;

/** Why a file cannot be the store. The message follows the file's name. */
export class FileProblem extends Error {}

/** The files that SQLite has beside a database. */
const siblingSuffixes = ['-wal', '-journal'];

const headerBytes = 100;
// The file format of SQLite: https://www.sqlite.org/fileformat.html
const magic = 'SQLite format 3\0';
const versionOffset = 60;
const applicationIdOffset = 68;

/** The database and the files beside it that exist now. */
export function existingFiles(path: string): string[] {
  return [path, `${path}-wal`].filter((file) => existsSync(file));
}

/**
 * Checks that the path is free, an empty file or a file of this store, and changes nothing. A device, a pipe or the file of
 * another program must not be opened by SQLite, which changes its mode and puts files beside it.
 * @returns whether the file exists. @throws FileProblem
 */
export function inspectFile(path: string): boolean {
  const stats = statsOf(path);
  const file = stats === undefined ? path : realpathSync(path);
  for (const suffix of siblingSuffixes) {
    const sibling = statsOf(`${file}${suffix}`);
    if (sibling !== undefined) expectRegular(sibling, suffix);
  }
  if (stats !== undefined) {
    expectRegular(stats);
    expectOwn(readHeader(file));
  }
  try {
    if (stats !== undefined) accessSync(file, constants.R_OK | constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
  } catch {
    // Opened by SQLite, the file would be read-only without an error.
    throw new FileProblem('is not writable. Check the permissions of the file and its directory.');
  }
  return stats !== undefined;
}

/** Creates an empty file, private to its owner from the start. @returns false if another process has created it */
export function createFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    throw new FileProblem(`cannot be created (${code}). Check the permissions of its directory.`);
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new FileProblem(
        'is a link to a file that does not exist. Create that file, or choose another path.',
      );
    if (code === 'ENOENT' && existsSync(dirname(path))) return undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new FileProblem('is in a directory that does not exist. Create the directory.');
    throw new FileProblem(`cannot be read (${code}). Check the permissions of its directory.`);
  }
}

/** @param sibling the suffix of the file, if it is a file beside the database. @throws FileProblem */
function expectRegular(stats: Stats, sibling?: string): void {
  if (stats.isFile()) return;
  const kinds: [boolean, string][] = [
    [stats.isDirectory(), 'a directory'],
    [stats.isFIFO(), 'a pipe'],
    [stats.isSocket(), 'a socket'],
  ];
  const kind = kinds.find(([isOfKind]) => isOfKind)?.[1] ?? 'a device';
  throw new FileProblem(
    sibling === undefined
      ? `is ${kind}, but must be a regular file. Choose another path.`
      : `has ${kind} in place of its ${sibling} file. Choose another path.`,
  );
}

/** The first bytes of a file. The size tells nothing: a file of the kernel has the size 0. */
function readHeader(path: string): Buffer {
  let file: number;
  try {
    // Does not wait for the other end of a pipe that has taken the place of the file.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new FileProblem(`is not readable (${codeOf(error)}). Check the permissions of the file.`);
  }
  try {
    expectRegular(fstatSync(file));
    const header = Buffer.alloc(headerBytes);
    return header.subarray(0, readSync(file, header, 0, headerBytes, 0));
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem(`is not readable (${codeOf(error)}). Check the file and its disk.`);
  } finally {
    closeSync(file);
  }
}

function expectOwn(header: Buffer): void {
  if (header.length === 0) return;
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic)
    throw new FileProblem('is not a SQLite file. Choose another file.');
  if (header.readUInt32BE(applicationIdOffset) !== applicationId) throw belongsToOther();
  const version = header.readUInt32BE(versionOffset);
  if (version !== schemaVersion) throw otherVersion(version);
}

/** The problem of a database without the mark of this store. */
export function belongsToOther(): FileProblem {
  return new FileProblem('belongs to another program. Choose another file.');
}

/** The problem of a file with tables of another version. */
export function otherVersion(version: unknown): FileProblem {
  return new FileProblem(
    `has version ${version}, but this version of Waybill supports version ${schemaVersion}. Use the version of Waybill that wrote the file, or a new file.`,
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

const goneProblem =
  'The file of STATE_FILE was deleted or replaced while this server uses it. This server still has its idempotency ' +
  'keys, but the next start loses them. Restart the server at a quiet time: if a client repeats an earlier write after ' +
  'the restart, the write can happen twice.';
const readOnlyProblem =
  'The file of STATE_FILE or its directory is not writable any more. Check their permissions and the disk.';

/**
 * Watches the files of an open database. SQLite goes on with a deleted file without an error. It opens no file: to close
 * one again would free the locks that this process has on the database.
 * @returns a function that looks, and returns the problem as a sentence. It costs a few system calls.
 */
export function createFileCheck(path: string): () => string | undefined {
  const files = existingFiles(path).map((file) => ({ file, id: identityOf(file) }));
  return () => {
    if (files.some(({ file, id }) => identityOf(file) !== id)) return goneProblem;
    try {
      for (const { file } of files) accessSync(file, constants.R_OK | constants.W_OK);
      accessSync(dirname(realpathSync(path)), constants.W_OK);
      return undefined;
    } catch {
      return readOnlyProblem;
    }
  };
}

/** The number of the file on its disk. Undefined without a file. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
