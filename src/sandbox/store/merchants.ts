import type { Organization } from '../interface/schemas.ts';
import type { Database } from './database.ts';

/** Whose token a request carries. Everything but the locations belongs to one merchant. */
export interface Merchant {
  /** Its organization's resource name. */
  id: string;
  /** Starts the identifiers of what is created for it, such as `ca` in `orders/ca2501`. */
  prefix: string;
  organization: Organization;
}

export interface Merchants {
  byToken(token: string): Merchant | undefined;
  /** In the order in which they were added. */
  tokens(): string[];
  add(token: string, organization: Organization): Merchant;
}

export function createMerchants(database: Database): Merchants {
  const known = new Map<string, Merchant>();
  return {
    byToken(token) {
      const merchant = known.get(token) ?? read(database, token);
      if (merchant !== undefined) known.set(token, merchant);
      return merchant;
    },
    tokens: () => database.all('SELECT token FROM merchants ORDER BY rowid').map((row) => String(row.token)),
    add(token, organization) {
      const merchant = { id: organization.name, prefix: initialsOf(organization.name), organization };
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

function read(database: Database, token: string): Merchant | undefined {
  const [row] = database.all('SELECT id, prefix, organization FROM merchants WHERE token = ?', token);
  if (row === undefined) return undefined;
  // Written by `add`, from an Organization.
  const organization = JSON.parse(String(row.organization)) as Organization;
  return { id: String(row.id), prefix: String(row.prefix), organization };
}

/** `ca` for `organization/cafe-andino`. Without digits, so that the number of an identifier is told from it. */
function initialsOf(organization: string): string {
  const words = organization.slice(organization.indexOf('/') + 1).split('-');
  return words.map((word) => word.charAt(0).replace(/\d/, '')).join('');
}
