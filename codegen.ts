import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types for the tests' own documents, so that a field which the schema lacks fails the type check. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: 'test/**/*.graphql',
  generates: {
    'test/documents.generated.ts': {
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        useTypeImports: true,
        strictScalars: true,
        scalars: { DateTime: 'string', Cents: 'number', URL: 'string' },
      },
    },
  },
};

export default config;
