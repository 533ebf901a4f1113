import type { Organization } from '../interface/schemas.ts';
import type { Database } from './database.ts';

/** A merchant. Every record except locations belongs to one merchant, and to no access token. */
export interface Merchant {
  /** The resource name of the organization. */
  id: string;
  /** The prefix of new identifiers, such as `ca` in `orders/ca2501`. */
  prefix: string;
  organization: Organization;
  /** The order of the seed. */
  rank: 'first' | 'second';
}

/** An access token that the sandbox has issued. */
export interface AccessToken {
  text: string;
  merchant: Merchant;
  /** 1 for the first token of the merchant, 2 for the next. */
  number: number;
  /** Whether requests with this token are 401. */
  hasEnded: boolean;
}

/** The merchants of the sandbox and their access tokens. */
export interface Merchants {
  /** Adds a merchant and its first token. */
  add(token: string, organization: Organization): Merchant;
  /** All merchants, in the order of `add`. */
  all(): Merchant[];
  /** Finds a token, also one that has ended. Undefined for a token that the sandbox has not issued. */
  findToken(text: string): AccessToken | undefined;
  /** The oldest `count` valid tokens of a merchant. Issues tokens if the merchant has fewer. */
  validTokens(merchant: Merchant, count: number): string[];
  /**
   * Issues the next token of the merchant of `text`: the merchant's first token with a number.
   * @throws RangeError for a token that the sandbox has not issued.
   */
  issueToken(text: string): AccessToken;
  /** Ends a token. @throws RangeError for a token that the sandbox has not issued. */
  endToken(text: string): AccessToken;
}

/** Creates the collection of merchants over a database. */
export function createMerchants(database: Database): Merchants {
  const cache = new Map<string, AccessToken>();
  const findToken: Merchants['findToken'] = (text) => {
    const token = cache.get(text) ?? readToken(database, text);
    if (token !== undefined) cache.set(text, token);
    return token;
  };
  const getToken = (text: string): AccessToken => {
    const token = findToken(text);
    if (token === undefined) throw new RangeError('The sandbox has not issued this token');
    return token;
  };
  const addToken = (text: string, merchant: Merchant, number: number) =>
    database.run('INSERT INTO tokens (token, merchant, number) VALUES (?, ?, ?)', text, merchant.id, number);
  const issueFor = (merchant: Merchant): string => {
    const tokens = database.all('SELECT token FROM tokens WHERE merchant = ? ORDER BY number', merchant.id);
    const number = tokens.length + 1;
    const text = `${tokens[0]?.token}-${number}`;
    addToken(text, merchant, number);
    return text;
  };
  return {
    add(token, organization) {
      return database.transaction(() => {
        const [row] = database.all(
          'INSERT INTO merchants (id, prefix, organization) VALUES (?, ?, ?) RETURNING *',
          organization.name,
          prefixOf(organization.name),
          JSON.stringify(organization),
        );
        const merchant = merchantOf(row ?? {});
        addToken(token, merchant, 1);
        return merchant;
      });
    },
    all: () => database.all('SELECT * FROM merchants ORDER BY sequence').map(merchantOf),
    findToken,
    validTokens(merchant, count) {
      return database.transaction(() => {
        const tokens = database
          .all(
            'SELECT token FROM tokens WHERE merchant = ? AND ended = 0 ORDER BY number LIMIT ?',
            merchant.id,
            count,
          )
          .map(({ token }) => String(token));
        while (tokens.length < count) tokens.push(issueFor(merchant));
        return tokens;
      });
    },
    issueToken: (text) => getToken(issueFor(getToken(text).merchant)),
    endToken(text) {
      const token = { ...getToken(text), hasEnded: true };
      database.run('UPDATE tokens SET ended = 1 WHERE token = ?', text);
      cache.set(text, token);
      return token;
    },
  };
}

function readToken(database: Database, text: string): AccessToken | undefined {
  const [row] = database.all(
    'SELECT * FROM tokens JOIN merchants ON merchants.id = tokens.merchant WHERE token = ?',
    text,
  );
  if (row === undefined) return undefined;
  return { text, merchant: merchantOf(row), number: Number(row.number), hasEnded: row.ended === 1 };
}

function merchantOf(row: Record<string, unknown>): Merchant {
  return {
    id: String(row.id),
    prefix: String(row.prefix),
    // `add` wrote the JSON from an Organization.
    organization: JSON.parse(String(row.organization)) as Organization,
    rank: row.sequence === 1 ? 'first' : 'second',
  };
}

/** `ca` for `organization/cafe-andino`. Without digits, so that the number in an identifier is unambiguous. */
function prefixOf(organization: string): string {
  const words = organization.slice(organization.indexOf('/') + 1).split('-');
  return words.map((word) => word.charAt(0).replace(/\d/, '')).join('');
}
