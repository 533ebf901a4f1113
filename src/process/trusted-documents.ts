import { readTrustedDocuments, type TrustedDocuments } from '../server/documents/trusted-documents.ts';
import { unusableSetting } from './startup-errors.ts';

/** Reads the documents of OPERATIONS_FILE. @throws ConfigError if the file cannot be read */
export async function loadTrustedDocuments(file: string | undefined): Promise<TrustedDocuments | undefined> {
  if (file === undefined) return undefined;
  return readTrustedDocuments(file).catch((error: unknown) => {
    throw unusableSetting(
      `OPERATIONS_FILE: expected a JSON object that maps ids to documents, but got ${file}`,
      error,
    );
  });
}
