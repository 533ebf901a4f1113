import { existsSync } from 'node:fs';
import { StoreOpenError } from './key-store.ts';
import { describePostgres, type PostgresUrl } from './postgres-url.ts';

/** The server is a standby, so nothing can be stored there. */
export class NotPrimaryError extends Error {}

/** Why an operation failed, in words fit for the public, and what that means for the other operations. */
export interface Problem {
  /** A sentence with what an operator can do. */
  text: string;
  /** Whether a server may start all the same. Otherwise the address or its parts are wrong. */
  isPassing: boolean;
}

const timeout = (timeoutMs: number) =>
  `PostgreSQL did not respond within ${timeoutMs} ms. Check the server, its network and its standbys.`;
const readOnly = 'PostgreSQL is read-only, or a standby. STATE_URL must lead to the primary.';

/** By SQLSTATE, or by its class of two characters. All but `readOnly` pass by themselves. */
const stateTexts: Readonly<Record<string, string>> = {
  25006: readOnly,
  55000: readOnly,
  53300: 'PostgreSQL has no connections left. Raise its max_connections, or close other programs.',
  53: 'PostgreSQL has run out of disk space, memory or another resource. Free some of this resource.',
  57: 'PostgreSQL is starting, stopping or failing over.',
  '08': 'The connection to PostgreSQL broke. Check the server and its network.',
};

/** The errors of a network between this server and PostgreSQL, by the code of Node. */
const networkCodes = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
];

/** Explains an error of `pg` or of the network. @param timeoutMs how long an operation may take */
export function problemOf(error: unknown, { host }: PostgresUrl, timeoutMs: number): Problem {
  const { code, message } = firstOf(error);
  if (error instanceof NotPrimaryError) return { text: readOnly, isPassing: false };
  const state = stateTexts[code] ?? (code.length === 5 ? stateTexts[code.slice(0, 2)] : undefined);
  if (state !== undefined) return { text: state, isPassing: state !== readOnly };
  // The socket of a server that does not run yet, in a directory that exists.
  if (networkCodes.includes(code) || (code === 'ENOENT' && existsSync(host)))
    return {
      text: `PostgreSQL cannot be reached (${code}). Check the server and its network.`,
      isPassing: true,
    };
  // pg gives these errors no code.
  if (/timeout/i.test(message)) return { text: timeout(timeoutMs), isPassing: true };
  if (/^Connection terminated/.test(message))
    return { text: 'The connection to PostgreSQL broke. Check the server and its network.', isPassing: true };
  return { text: wrong(code, message), isPassing: false };
}

function wrong(code: string, message: string): string {
  switch (code) {
    case 'ENOTFOUND':
    case 'ENOENT':
      return 'The host or the socket directory of STATE_URL does not exist. Correct the host in STATE_URL.';
    case '28P01':
    case '28000':
      return 'PostgreSQL rejects the user, the password or the encryption. Correct them in STATE_URL.';
    case '3D000':
      return 'PostgreSQL has no such database. Correct the name in STATE_URL, or create the database.';
    case '42501':
      return 'PostgreSQL denies a right. Grant the right to the role of STATE_URL.';
    default:
      return /SSL|certificate|altname|self.signed/i.test(`${code} ${message}`)
        ? 'PostgreSQL does not offer the encryption that STATE_URL asks for, or Waybill does not trust the certificate of PostgreSQL. Correct sslmode or sslrootcert in STATE_URL.'
        : `PostgreSQL failed${code === '' ? '' : ` with the error ${code}`}. The log of PostgreSQL says why.`;
  }
}

/** An attempt at several addresses of one host has an error for each. */
function firstOf(error: unknown): { code: string; message: string } {
  const { code, message, errors } = Object(error);
  if (code === undefined && Array.isArray(errors) && errors.length > 0) return firstOf(errors[0]);
  return { code: typeof code === 'string' ? code : '', message: String(message) };
}

/** An error that says nothing about other operations: a lock that others hold too long, or a deadlock. */
export function isOfOneKey(error: unknown): boolean {
  return ['55P03', '40P01', '40001'].includes(String(Object(error).code));
}

/** The error of a store that cannot be opened, for operators: with what was tried, and what to grant. */
export function toOpenError(error: unknown, { text }: Problem, url: PostgresUrl): StoreOpenError {
  const { code, message } = Object(error);
  const { schema, database, user } = url;
  const role = user ?? 'the role';
  const grant =
    code === '42501'
      ? ` Run GRANT CREATE ON DATABASE "${database}" TO ${role}, or CREATE SCHEMA ${schema} AUTHORIZATION ${role}. For tables of another role, run GRANT USAGE ON SCHEMA ${schema} TO ${role}.`
      : '';
  const said = message ? ` (${message})` : '';
  const who = user === undefined ? '' : ` as ${user}`;
  const tried = `Waybill tried to use ${describePostgres(url)}${who}${said}.`;
  return new StoreOpenError(`${text}${grant} ${tried}`, { cause: error });
}
