/**
 * Who asks for a part of what all requests share. A token that REST has accepted is one owner. All other requests are one
 * owner together, because anybody can make up tokens (docs/design/how-the-server-is-shared.md#keys). `token` and
 * `connection` are any objects that stand for them, such as a Tenant.
 */
export type Owner =
  | { readonly token: object; readonly connection: undefined }
  // Requests of this owner take turns by connection, and on each connection by token.
  | { readonly token: object | undefined; readonly connection: object };

/** The owner of a request without a token. */
export function anonymousOwner(connection: object): Owner {
  return { token: undefined, connection };
}
