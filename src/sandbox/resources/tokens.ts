import { Type } from 'typebox';
import type { Server, Service } from '../http/server-type.ts';
import { errorResponses } from '../interface/service-error.ts';
import type { AccessToken } from '../store/merchants.ts';

const TokenStatus = Type.Object({ token: Type.String(), ended: Type.Boolean() });

/**
 * Adds the routes that end the bearer token of a request, and issue the next one of its merchant. They are switches of
 * the sandbox and no part of the REST interface. So they are outside `/v1` and not in the OpenAPI description.
 */
export function addRoutes(server: Server, { store: { merchants } }: Service): void {
  server.post(
    '/sandbox/tokens/end',
    { schema: { hide: true, response: { 200: TokenStatus, ...errorResponses() } } },
    ({ accessToken }) => statusOf(merchants.endToken(accessToken.text)),
  );

  server.post(
    '/sandbox/tokens/issue',
    {
      config: { takesEndedToken: true },
      schema: { hide: true, response: { 201: TokenStatus, ...errorResponses() } },
    },
    ({ accessToken }, reply) => {
      reply.code(201);
      return statusOf(merchants.issueToken(accessToken.text));
    },
  );
}

function statusOf({ text, hasEnded }: AccessToken): { token: string; ended: boolean } {
  return { token: text, ended: hasEnded };
}
