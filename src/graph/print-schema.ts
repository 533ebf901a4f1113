import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from './schema.ts';

// `npm run codegen` runs this file. It writes schema.graphql, the printed schema that people read and compare.
writeFileSync(new URL('../../schema.graphql', import.meta.url), `${printSchema(schema)}\n`);
