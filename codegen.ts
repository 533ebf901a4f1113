import type { CodegenConfig } from '@graphql-codegen/cli';

const scalars = {
  useTypeImports: true,
  strictScalars: true,
  scalars: { DateTime: 'string', Cents: 'number', URL: 'string' },
};

/** Types of documents, so that a field which the schema lacks fails the generation, and a wrong value the type check. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  generates: {
    'test/documents.generated.ts': {
      documents: 'test/**/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: scalars,
    },
    'test/api/graphiql/tabs.generated.ts': {
      documents: 'src/server/routes/graphiql/tabs/*.graphql',
      plugins: ['typescript-operations'],
      config: scalars,
    },
  },
};

export default config;
