import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from './schema.ts';

// Run by `npm run codegen`: keeps the printed schema, which people read and compare, equal to the code.
writeFileSync(new URL('../../schema.graphql', import.meta.url), `${printSchema(schema)}\n`);
