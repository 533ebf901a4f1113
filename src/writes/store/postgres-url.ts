/** How the connection is encrypted. `verify-full` checks the certificate and its host name, `verify-ca` the certificate. */
type SslMode = (typeof sslModes)[number];
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** Where the PostgreSQL server is, and what Waybill uses there. */
export interface PostgresUrl {
  /** A host name, an IP address, or the absolute path of a directory with the server's socket. */
  host: string;
  port: number;
  /** Undefined where the URL has none: then `pg` reads PGUSER and PGPASSWORD. */
  user: string | undefined;
  password: string | undefined;
  database: string;
  /** The schema of Waybill's tables. A name that needs no quotes in SQL. */
  schema: string;
  sslMode: SslMode;
  /** The path of a PEM file with the certificates to trust. */
  rootCertificateFile: string | undefined;
}

/** The URL without its user, password and parameters, for people. */
export function describePostgres({ host, port, database, schema }: PostgresUrl): string {
  return `schema ${schema} of postgres://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

const noHost = 'socket';
const parameters = ['schema', 'sslmode', 'sslrootcert', 'host'];

/**
 * Reads a URL such as `postgres://user:password@host:5432/database?schema=waybill&sslmode=verify-full`.
 * @returns the parts, or what is wrong with the URL as sentences that quote no secret.
 */
export function parsePostgresUrl(text: string): PostgresUrl | string {
  // With a socket, the host is in the parameters, and a URL with a user needs one.
  const url = URL.parse(text.replace(/^(\w+:\/\/(?:[^/?#]*@)?)(?=[:/])/, `$1${noHost}`));
  if (url === null)
    return 'This is not a URL with one host. Percent-encode the special characters of the password.';
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    return `The scheme is "${url.protocol}", but Waybill stores keys only in PostgreSQL. Begin the URL with postgres://.`;
  if (url.hash !== '')
    return 'The URL has a "#", which ends the path and the parameters. Percent-encode it as %23.';
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined)
    return `The parameter "${unknown}" is unknown. Remove it. Waybill knows ${parameters.join(', ')}.`;
  try {
    return readParts(url);
  } catch {
    return 'The URL has a "%" that encodes nothing. Percent-encode it as %25.';
  }
}

/** @throws URIError */
function readParts({
  hostname,
  port,
  username,
  password,
  pathname,
  searchParams,
}: URL): PostgresUrl | string {
  const parameter = (name: string) => searchParams.get(name) || undefined;
  const host = parameter('host') ?? decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1');
  if (host === noHost || host.includes(','))
    return 'Name one host, or the directory of a socket, such as postgres://user@/database?host=/run/postgresql.';
  const database = decodeURIComponent(pathname.slice(1));
  if (database === '') return 'Name the database after the host, such as postgres://host/database.';
  const schema = parameter('schema') ?? 'waybill';
  if (!/^[a-z_][a-z\d_]{0,62}$/.test(schema) || schema.startsWith('pg_'))
    return 'The name of the schema may have small letters, digits and "_", and must not begin with "pg_" or a digit.';
  const mode = parameter('sslmode') ?? 'disable';
  const sslMode = sslModes.find((known) => known === mode);
  if (sslMode === undefined)
    return `The sslmode ${JSON.stringify(mode)} is none of ${sslModes.join(', ')}. Choose one. Waybill does not fall back to another mode.`;
  return {
    host,
    port: port === '' ? 5432 : Number(port),
    user: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database,
    schema,
    sslMode,
    rootCertificateFile: parameter('sslrootcert'),
  };
}
