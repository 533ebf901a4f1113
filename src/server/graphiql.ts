import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { OperationList } from './documents/trusted-documents.ts';
import { type Assets, chooseEncoding, readAssets } from './graphiql-assets.ts';
import { listedTabs } from './graphiql-listed-tabs.ts';
import { contentSecurityPolicy, renderPage } from './graphiql-page.ts';
import { createTabs } from './graphiql-tabs.ts';

export interface GraphiqlOptions {
  /** The access token in the headers of every tab; undefined leaves its place empty. */
  bearer: string | undefined;
  /** What the server runs, where that is not everything: the tabs are of these. */
  operationList?: OperationList | undefined;
}

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Answers a browser's `GET /graphql` with GraphiQL and sends it there from `/`. All of it comes from this server, under
 * `/graphiql/`. Nothing of it is in memory until the first page is asked for.
 */
export function graphiql({ bearer, operationList }: GraphiqlOptions): Plugin {
  let reading: Promise<Assets> | undefined;
  const assets = () => {
    reading ??= readAssets().catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  const tabs = operationList === undefined ? createTabs(bearer !== undefined) : listedTabs(operationList);
  const headers = JSON.stringify({ Authorization: `Bearer ${bearer ?? '<access token>'}` }, null, 2);

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return;
      const file = /^\/graphiql\/([^/]*)$/.exec(url.pathname)?.[1];
      if (file !== undefined) {
        const answer = await answerFile(await assets(), file, request, fetchAPI);
        if (answer !== undefined) endResponse(answer);
      } else if (request.headers.get('accept')?.includes('text/html')) {
        if (url.pathname === '/') {
          endResponse(new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } }));
        } else if (url.pathname === '/graphql') {
          const page = renderPage(await assets(), tabs, headers);
          endResponse(answerPage(page, request, fetchAPI));
        }
      }
    },
  };
}

function answerPage(page: string, request: Request, { Response }: FetchAPI): Response {
  return new Response(request.method === 'HEAD' ? null : page, {
    headers: {
      ...securityHeaders,
      // It may hold an access token.
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(page)),
      'content-type': 'text/html; charset=utf-8',
      vary: 'accept',
    },
  });
}

async function answerFile(
  { byName }: Assets,
  name: string,
  request: Request,
  { Response }: FetchAPI,
): Promise<Response | undefined> {
  const asset = byName.get(name);
  if (asset === undefined) return undefined;
  const encoding = chooseEncoding(request.headers.get('accept-encoding'));
  const bytes = await asset.encoded(encoding);
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: {
      ...securityHeaders,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.byteLength),
      'content-type': asset.contentType,
      vary: 'accept-encoding',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  });
}
