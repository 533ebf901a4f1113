import { anyText, oneOf, wholeNumber } from './setting.ts';

/** Which parts of the schema clients see, and how much memory documents may use. */
export const documentSettings = {
  schemaAccess: oneOf(
    'SCHEMA',
    'public',
    ['public', 'private'],
    'Whether clients may explore the schema. `private` refuses introspection, serves no GraphiQL, and suggests no names in errors.',
  ),
  documentCacheBytes: wholeNumber(
    'DOCUMENT_CACHE_BYTES',
    '67108864',
    [0, 4_294_967_296],
    'The highest estimated memory of parsed, validated and compiled documents, in bytes. `0` caches none. A document that needs more than a quarter of this is not cached.',
  ),
  persistedQueryBytes: wholeNumber(
    'PERSISTED_QUERY_BYTES',
    '16777216',
    [0, 4_294_967_296],
    'The highest memory of document texts that clients name by their hash, in bytes. With `0`, clients must send each document whole.',
  ),
};

/** The trusted documents. */
export const trustedDocumentSettings = {
  operationsFile: anyText(
    'OPERATIONS_FILE',
    undefined,
    'A JSON file with the only accepted documents, such as `{ "<id>": "<document>" }`. By default, every document of the schema is accepted.',
  ),
};
