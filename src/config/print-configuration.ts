import { readFileSync, writeFileSync } from 'node:fs';
import { environmentExample, withSettingTables } from './configuration-page.ts';

// `npm run codegen` runs this file, so that docs/configuration.md and .env.example have the settings of the code.
const root = new URL('../../', import.meta.url);
const page = new URL('docs/configuration.md', root);
writeFileSync(page, withSettingTables(readFileSync(page, 'utf8')));
writeFileSync(new URL('.env.example', root), environmentExample());
