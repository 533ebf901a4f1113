/** The number of merchants with records of their own. All other tokens see the records of one more merchant. */
export const tenants = 8;

/** A merchant besides them, with 20,000 orders and 20,000 shipments. */
export const tenantWithLongLists = tenants;

/** A merchant whose orders have the longest notes, of characters with three bytes in UTF-8. */
export const tenantWithLongNotes = tenants + 1;

/** A merchant whose orders have the longest notes, of characters with six bytes in JSON. */
export const tenantWithEscapedNotes = tenants + 2;

/** The start of every merchant's token. */
export const tokenStart = 'tenant-token-';

/**
 * An access token of a merchant.
 * @param tenant the number of the merchant, from 0 on
 * @param number the number of the token: a merchant has as many tokens as a caller needs
 */
export const tokenOf = (tenant: number, number = 0): string =>
  number === 0 ? `${tokenStart}${tenant}` : `${tokenStart}${tenant}-${number}`;

/** The merchant of a token that begins with `tokenStart`. */
export const tenantOf = (token: string): number => Number.parseInt(token.slice(tokenStart.length), 10);

/** The mark in all identifiers and notes of a merchant: `t3x`, as in `orders/t3xor1000`. */
export const markOf = (tenant: number): string => `t${tenant}x`;
