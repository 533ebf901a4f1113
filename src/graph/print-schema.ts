import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { clientFiles } from './client-files.ts';
import { schema } from './schema.ts';

// `npm run codegen` runs this file. It writes schema.graphql, the printed schema that people read and compare, and the
// files of the folder `client` that follow the schema.
const root = new URL('../../', import.meta.url);
writeFileSync(new URL('schema.graphql', root), `${printSchema(schema)}\n`);
for (const [name, text] of Object.entries(clientFiles(schema)))
  writeFileSync(new URL(`client/${name}`, root), text);
