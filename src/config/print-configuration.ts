import { readFileSync, writeFileSync } from 'node:fs';
import { environmentExample, withSettingTables } from './configuration-page.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/configuration.md', root);
writeFileSync(page, withSettingTables(readFileSync(page, 'utf8')));
writeFileSync(new URL('.env.example', root), environmentExample());
