/** The number of merchants with records of their own. All other tokens see the records of one more merchant. */
export const tenants = 8;

/** A merchant besides them, with 20,000 orders and 20,000 shipments. */
export const tenantWithLongLists = tenants;

/** The start of every merchant's token. */
export const tokenStart = 'tenant-token-';

/** The access token of a merchant. @param tenant from 0 on */
export const tokenOf = (tenant: number): string => `${tokenStart}${tenant}`;

/** The mark in all identifiers and notes of a merchant: `t3x`, as in `orders/t3xor1000`. */
export const markOf = (tenant: number): string => `t${tenant}x`;
