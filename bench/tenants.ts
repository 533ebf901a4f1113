/** How many merchants have records of their own in the service of the benchmark. Any other bearer sees the same merchant. */
export const tenants = 8;

/** What every token of a merchant begins with. */
export const tokenStart = 'tenant-token-';

/** The access token of a merchant, from 0 on. */
export const tokenOf = (tenant: number): string => `${tokenStart}${tenant}`;

/** What is in each identifier of a merchant and in each note: `t3x`, as in `orders/t3xor1000`. */
export const markOf = (tenant: number): string => `t${tenant}x`;
