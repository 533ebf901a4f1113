import { readFileSync, writeFileSync } from 'node:fs';
import { environmentExample, withSettingTables } from './configuration-page.ts';

// Run by `npm run codegen`: writes the tables of docs/configuration.md and .env.example from the settings.

const root = new URL('../../', import.meta.url);
const page = new URL('docs/configuration.md', root);
writeFileSync(page, withSettingTables(readFileSync(page, 'utf8')));
writeFileSync(new URL('.env.example', root), environmentExample());
