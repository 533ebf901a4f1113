import { beforeAll, describe, expect, test } from 'vitest';
import {
  isPostgresMissing,
  newSchema,
  openStore,
  type Postgres,
  parsedUrl,
  sharedPostgres,
} from '../../fixtures/postgres.ts';
import { describeKeyStore } from './contract.ts';

describe.skipIf(isPostgresMissing)('with a PostgreSQL server', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await sharedPostgres();
  });

  let schema = '';
  describeKeyStore('PostgreSQL', {
    open: (options) => {
      schema = newSchema();
      return openStore(parsedUrl(server, schema), options);
    },
    reopen: (options) => openStore(parsedUrl(server, schema), options),
  });
});
