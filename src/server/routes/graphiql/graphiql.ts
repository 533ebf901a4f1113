import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import { acceptsHtml } from '../../http/media-types.ts';
import { type Asset, createAsset, readAssets } from './assets.ts';
import { contentSecurityPolicy, renderPage } from './page.ts';
import { readTabs, trustedDocumentTabs } from './tabs.ts';

export interface GraphiqlOptions {
  bearer: string | undefined;
  /** The live service that the page warns of. Undefined for the sandbox. */
  liveHost: string | undefined;
  trustedDocuments?: TrustedDocuments | undefined;
  compressResponses: boolean;
}

// The page may contain an access token.
const pageHeaders = { 'cache-control': 'no-store', vary: 'accept' };
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/**
 * Serves GraphiQL for a browser's `GET /graphql`, and redirects `/` to `/graphql`. This server serves all files,
 * under `/graphiql/`. The first request for the page or a file loads all of them into memory.
 */
export function graphiql(options: GraphiqlOptions): Plugin {
  let loading: ReturnType<typeof load> | undefined;
  const loadOnce = () => {
    loading ??= load(options).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async onRequest({ request, url: { pathname }, fetchAPI, endResponse }) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return;
      if (pathname.startsWith('/graphiql/')) {
        const asset = (await loadOnce()).assets.find(({ url }) => pathname === `/${url}`);
        if (asset !== undefined) endResponse(fileResponse(asset, assetHeaders, request, options, fetchAPI));
      } else if (
        (pathname === '/' || pathname === '/graphql') &&
        acceptsHtml(request.headers.get('accept'))
      ) {
        endResponse(
          pathname === '/'
            ? new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } })
            : fileResponse((await loadOnce()).page, pageHeaders, request, options, fetchAPI),
        );
      }
    },
  };
}

async function load({ bearer, liveHost, trustedDocuments }: GraphiqlOptions) {
  const headers = JSON.stringify({ Authorization: `Bearer ${bearer ?? '<access token>'}` }, null, 2);
  const [assets, tabs] = await Promise.all([
    readAssets(),
    trustedDocuments === undefined ? readTabs(bearer !== undefined) : trustedDocumentTabs(trustedDocuments),
  ]);
  const html = renderPage(assets, tabs, headers, liveHost);
  const page = await createAsset('page.html', new TextEncoder().encode(html));
  return { assets: [...assets.values()], page };
}

function fileResponse(
  { bytes, gzipped, contentType }: Asset,
  headers: Record<string, string>,
  request: Request,
  { compressResponses }: GraphiqlOptions,
  { Response }: FetchAPI,
): Response {
  const isGzipped = compressResponses && /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
  const body = isGzipped ? gzipped : bytes;
  return new Response(request.method === 'HEAD' ? null : body, {
    headers: {
      'content-security-policy': contentSecurityPolicy,
      ...headers,
      'content-length': String(body.byteLength),
      'content-type': String(contentType),
      ...(isGzipped && { 'content-encoding': 'gzip' }),
    },
  });
}
