import type { Config } from '../config/config.ts';
import type { DocumentStore } from '../printing/store/document-store.ts';
import { createMemoryDocuments } from '../printing/store/memory-documents.ts';
import type { KeyStore } from '../writes/store/key-store.ts';

/** The store of documents: with the keys in PostgreSQL, or else in memory. */
export async function openDocumentStore(
  { stateUrl }: Pick<Config, 'stateUrl'>,
  { secret, failure }: Pick<KeyStore, 'secret' | 'failure'>,
): Promise<DocumentStore> {
  if (stateUrl === undefined) return createMemoryDocuments();
  // Imported here, because most servers have no PostgreSQL.
  const { openPostgresDocuments } = await import('../printing/store/postgres-documents.ts');
  return openPostgresDocuments({ url: stateUrl, secret, failure });
}
