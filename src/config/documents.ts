import { anyText, oneOf, wholeNumber } from './setting.ts';

/** Which parts of the schema clients see, and how much memory documents may use. */
export const documentSettings = {
  schemaAccess: oneOf(
    'SCHEMA',
    'public',
    ['public', 'private'],
    'Whether clients may explore the schema. `private` refuses introspection, names nothing in errors that is near or missing, and serves no GraphiQL.',
  ),
  documentCacheBytes: wholeNumber(
    'DOCUMENT_CACHE_BYTES',
    '67108864',
    [0, 4_294_967_296],
    'How much memory parsed, validated and compiled documents may take, as estimated from their size; `0` keeps none, and one that takes more than a quarter is not kept.',
  ),
  persistedQueryBytes: wholeNumber(
    'PERSISTED_QUERY_BYTES',
    '16777216',
    [0, 4_294_967_296],
    'How much memory the texts of documents may take that clients name by their hash; `0` has them send each whole.',
  ),
};

/** The trusted documents. */
export const trustedDocumentSettings = {
  operationsFile: anyText(
    'OPERATIONS_FILE',
    undefined,
    'A file of the only documents that are taken, as JSON by their ids. Absent: every document of the schema is.',
  ),
};
