import { cpSync } from 'node:fs';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

// As docs/clients.md says: the app has a copy of the files of the folder `client` that it uses.
for (const name of [
  'schema.graphql',
  'session.ts',
  'waybill-fetch.ts',
  'idempotency-key.ts',
  'apollo-live-link.ts',
  'apollo-type-policies.generated.ts',
  'possible-types.generated.ts',
  'scalars.generated.ts',
])
  cpSync(`../../client/${name}`, `src/waybill/${name}`);

const { scalars } = await import('./src/waybill/scalars.generated.ts');

const config: CodegenConfig = {
  schema: 'src/waybill/schema.graphql',
  documents: 'src/documents.ts',
  generates: {
    'src/gql/': {
      preset: 'client',
      documentTransforms: [addTypenameSelectionDocumentTransform],
      presetConfig: { fragmentMasking: false },
      config: { scalars, useTypeImports: true },
    },
  },
};

export default config;
