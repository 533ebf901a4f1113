import { type PostgresUrl, parsePostgresUrl } from '../writes/store/postgres-url.ts';
import type { ValueType } from './setting.ts';

/** The URL of a PostgreSQL database. No message shows it, because it has a password. */
export const stateUrl: ValueType<PostgresUrl> = {
  expected: 'a URL such as postgres://user:password@host:5432/database?sslmode=verify-full',
  parse(value) {
    const url = parsePostgresUrl(value);
    return typeof url === 'string' ? undefined : url;
  },
  advice(value) {
    const problem = parsePostgresUrl(value);
    return typeof problem === 'string' ? problem : '';
  },
  shown: () => 'another text',
};
