import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import { type Asset, type Assets, acceptsGzip, readAssets } from './assets.ts';
import { contentSecurityPolicy, renderPage } from './page.ts';
import { readTabs, trustedDocumentTabs } from './tabs.ts';

/** The settings of the GraphiQL page. */
export interface GraphiqlOptions {
  /** The access token in the headers of every tab. Undefined: the headers show a placeholder. */
  bearer: string | undefined;
  /** The live service that the page warns of, asking before mutations. Undefined: no warning, as in the sandbox. */
  liveHost: string | undefined;
  /** The only documents that the server accepts, shown as tabs. Undefined if the server accepts every document. */
  trustedDocuments?: TrustedDocuments | undefined;
}

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Serves GraphiQL for a browser's `GET /graphql`, and redirects `/` to `/graphql`. This server serves all files,
 * under `/graphiql/`. The first request for the page or a file loads all of them into memory.
 */
export function graphiql({ bearer, liveHost, trustedDocuments }: GraphiqlOptions): Plugin {
  let loading: Promise<{ assets: Assets; page: string }> | undefined;
  const loadOnce = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  async function load() {
    const headers = JSON.stringify({ Authorization: `Bearer ${bearer ?? '<access token>'}` }, null, 2);
    const [assets, tabs] = await Promise.all([
      readAssets(),
      trustedDocuments === undefined ? readTabs(bearer !== undefined) : trustedDocumentTabs(trustedDocuments),
    ]);
    return { assets, page: renderPage(assets, tabs, headers, liveHost) };
  }

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return;
      const fileName = /^\/graphiql\/([^/]*)$/.exec(url.pathname)?.[1];
      if (fileName !== undefined) {
        const asset = (await loadOnce()).assets.byName.get(fileName);
        if (asset !== undefined) endResponse(await assetResponse(asset, request, fetchAPI));
      } else if (request.headers.get('accept')?.includes('text/html')) {
        if (url.pathname === '/') {
          endResponse(new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } }));
        } else if (url.pathname === '/graphql') {
          endResponse(pageResponse((await loadOnce()).page, request, fetchAPI));
        }
      }
    },
  };
}

function pageResponse(page: string, request: Request, { Response }: FetchAPI): Response {
  return new Response(request.method === 'HEAD' ? null : page, {
    headers: {
      ...securityHeaders,
      // The page may contain an access token.
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
