import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import { type Asset, type Assets, acceptsGzip, readAssets } from './assets.ts';
import { contentSecurityPolicy, renderPage } from './page.ts';
import { listedTabs, readTabs } from './tabs.ts';

export interface GraphiqlOptions {
  /** The access token in the headers of every tab; undefined leaves its place empty. */
  bearer: string | undefined;
  /** What the server runs, where that is not everything: the tabs are of these. */
  trustedDocuments?: TrustedDocuments | undefined;
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
export function graphiql({ bearer, trustedDocuments }: GraphiqlOptions): Plugin {
  let reading: Promise<{ assets: Assets; page: string }> | undefined;
  const files = () => {
    reading ??= read().catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };

  async function read() {
    const headers = JSON.stringify({ Authorization: `Bearer ${bearer ?? '<access token>'}` }, null, 2);
    const [assets, tabs] = await Promise.all([
      readAssets(),
      trustedDocuments === undefined ? readTabs(bearer !== undefined) : listedTabs(trustedDocuments),
    ]);
    return { assets, page: renderPage(assets, tabs, headers) };
  }

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return;
      const file = /^\/graphiql\/([^/]*)$/.exec(url.pathname)?.[1];
      if (file !== undefined) {
        const asset = (await files()).assets.byName.get(file);
        if (asset !== undefined) endResponse(await assetResponse(asset, request, fetchAPI));
      } else if (request.headers.get('accept')?.includes('text/html')) {
        if (url.pathname === '/') {
          endResponse(new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } }));
        } else if (url.pathname === '/graphql') {
          endResponse(pageResponse((await files()).page, request, fetchAPI));
        }
      }
    },
  };
}

function pageResponse(page: string, request: Request, { Response }: FetchAPI): Response {
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

async function assetResponse(asset: Asset, request: Request, { Response }: FetchAPI): Promise<Response> {
  const isGzipped = acceptsGzip(request.headers.get('accept-encoding'));
  const bytes = isGzipped ? await asset.gzipped() : asset.bytes;
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: {
      ...securityHeaders,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.byteLength),
      'content-type': asset.contentType,
      vary: 'accept-encoding',
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
  });
}
