import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { describeKeyStore } from './contract.ts';

describeKeyStore('memory', { open: (options) => openSqliteStore({ file: 'memory', ...options }) });

let file = '';
describeKeyStore('a file', {
  open: (options) => {
    file = join(tmpdir(), `waybill-${randomUUID()}.db`);
    return openSqliteStore({ file, ...options });
  },
  openSecond: (options) => openSqliteStore({ file, ...options }),
});
