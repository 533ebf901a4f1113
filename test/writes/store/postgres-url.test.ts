import { describe, expect, test } from 'vitest';
import { connectionSettings } from '../../../src/writes/store/postgres-connection.ts';
import { describePostgres, parsePostgresUrl } from '../../../src/writes/store/postgres-url.ts';
import { parsed } from '../../fixtures/postgres.ts';

describe('the URL of a PostgreSQL database', () => {
  test.each([
    [
      'postgres://u:p%25%40%2F@db/shop',
      { user: 'u', password: 'p%@/', host: 'db', port: 5432, database: 'shop' },
    ],
    ['postgresql://u:p@ss@[::1]:5433/a%20b', { password: 'p@ss', host: '::1', port: 5433, database: 'a b' }],
    ['postgres://db/shop?schema=way_2', { user: undefined, password: undefined, schema: 'way_2' }],
    ['postgres://u:p@/shop?host=/run/postgresql', { user: 'u', password: 'p', host: '/run/postgresql' }],
    ['postgres:///shop?host=/run/postgresql', { user: undefined, host: '/run/postgresql' }],
    [
      'postgres://%2Frun%2Fpostgresql/shop',
      { host: '/run/postgresql', schema: 'waybill', sslMode: 'disable' },
    ],
    [
      'postgres://db/shop?sslmode=verify-ca&sslrootcert=/ca.pem',
      { sslMode: 'verify-ca', rootCertificateFile: '/ca.pem' },
    ],
  ])('is split into its parts: %s', (url, parts) => {
    expect(parsePostgresUrl(url)).toMatchObject(parts);
  });

  test.each([
    ['postgres:///shop', 'Name one host'],
    ['postgres://one,two/shop', 'Name one host'],
    ['postgres://one:1,two:2/shop', 'This is not a URL with one host.'],
    ['postgres://u:100%@db/shop', 'The URL has a "%" that encodes nothing.'],
    ['postgres://u:a#b@db/shop', 'This is not a URL'],
    ['postgres://db/shop#part', 'The URL has a "#"'],
    ['postgres://db/shop?schema=Way', 'The name of the schema may have small letters'],
    ['postgres://db/shop?schema=a;b', 'The name of the schema may have small letters'],
    ['postgres://db/shop?schema=pg_temp', 'The name of the schema may have small letters'],
    [
      'postgres://db/shop?sslmode=prefer',
      'The sslmode "prefer" is none of disable, require, verify-ca, verify-full.',
    ],
    ['postgres://db/shop?options=-c', 'The parameter "options" is unknown.'],
  ])('is refused with a sentence: %s', (url, sentence) => {
    expect(parsePostgresUrl(url)).toEqual(expect.stringContaining(sentence));
  });

  test('is described without its user and password', () => {
    expect(describePostgres(parsed('postgres://u:s3cret@[::1]/shop?schema=keys'))).toBe(
      'schema keys of postgres://[::1]:5432/shop',
    );
  });

  test.each([
    ['disable', false],
    ['require', { rejectUnauthorized: false, checkServerIdentity: expect.any(Function) }],
    ['verify-ca', { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
    ['verify-full', { rejectUnauthorized: true }],
  ])('sets the TLS options of sslmode=%s', (mode, ssl) => {
    expect(connectionSettings(parsed(`postgres://db/shop?sslmode=${mode}`), 1_000).ssl).toEqual(ssl);
  });

  test('checks the certificate with sslmode=require if it names a root certificate', () => {
    const url = parsed(`postgres://db/shop?sslmode=require&sslrootcert=${import.meta.filename}`);
    expect(connectionSettings(url, 1_000).ssl).toMatchObject({ rejectUnauthorized: true });
  });
});
