import type { Organization } from '../interface/schemas.ts';
import type { Database } from './database.ts';

/** A merchant, identified by its bearer token. Every record except locations belongs to one merchant. */
export interface Merchant {
  /** The resource name of the organization. */
  id: string;
  /** The prefix of new identifiers, such as `ca` in `orders/ca2501`. */
  prefix: string;
  organization: Organization;
}

/** The merchants of the sandbox. */
export interface Merchants {
  byToken(token: string): Merchant | undefined;
  /** All tokens, in the order of `add`. */
  tokens(): string[];
  add(token: string, organization: Organization): Merchant;
}

/** Creates the collection of merchants over a database. */
export function createMerchants(database: Database): Merchants {
  const cache = new Map<string, Merchant>();
  return {
    byToken(token) {
      const merchant = cache.get(token) ?? readMerchant(database, token);
      if (merchant !== undefined) cache.set(token, merchant);
      return merchant;
    },
    tokens: () => database.all('SELECT token FROM merchants ORDER BY rowid').map((row) => String(row.token)),
    add(token, organization) {
      const merchant = { id: organization.name, prefix: prefixOf(organization.name), organization };
      database.run(
        'INSERT INTO merchants (token, id, prefix, organization) VALUES (?, ?, ?, ?)',
        token,
        merchant.id,
        merchant.prefix,
        JSON.stringify(organization),
      );
      return merchant;
    },
  };
}

function readMerchant(database: Database, token: string): Merchant | undefined {
  const [row] = database.all('SELECT id, prefix, organization FROM merchants WHERE token = ?', token);
  if (row === undefined) return undefined;
  // `add` wrote the JSON from an Organization.
  const organization = JSON.parse(String(row.organization)) as Organization;
  return { id: String(row.id), prefix: String(row.prefix), organization };
}

/** `ca` for `organization/cafe-andino`. Without digits, so that the number in an identifier is unambiguous. */
function prefixOf(organization: string): string {
  const words = organization.slice(organization.indexOf('/') + 1).split('-');
  return words.map((word) => word.charAt(0).replace(/\d/, '')).join('');
}
