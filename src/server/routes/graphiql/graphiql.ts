import type { Plugin } from 'graphql-yoga';
import type { ReportError } from '../../../telemetry/error-report.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import { httpErrorResponse, type YogaContext } from '../../graphql/yoga-context.ts';
import { acceptsHtml } from '../../http/content-negotiation.ts';
import { toClientError } from '../../operations/client-error.ts';
import { type Asset, createAsset, readAssets } from './assets.ts';
import { contentSecurityPolicy, renderPage } from './page.ts';
import { readTabs, trustedDocumentTabs } from './tabs.ts';

export interface GraphiqlOptions {
  bearer: string | undefined;
  /** The live service that the page warns of. Undefined for the sandbox. */
  liveHost: string | undefined;
  trustedDocuments?: TrustedDocuments | undefined;
  compressResponses: boolean;
  report: ReportError;
}

// The page may contain an access token. `yogaHeaders` adds accept-encoding to `vary`.
const pageHeaders = { 'cache-control': 'no-store', vary: 'accept' };
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/**
 * Serves GraphiQL for a browser's `GET /graphql`, and redirects `/` to `/graphql`. The page loads no file from another
 * server: all its files are under `/graphiql/`. The first request for the page or a file loads all of them into memory.
 */
export function yogaGraphiqlRoute(options: GraphiqlOptions): Plugin<object, YogaContext> {
  let loading: ReturnType<typeof load> | undefined;
  const loadOnce = () => {
    loading ??= load(options).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    async onRequest({ request, url: { pathname }, serverContext, fetchAPI, endResponse }) {
      const { method, headers } = request;
      if (method !== 'GET' && method !== 'HEAD') return;
      const isAsset = pathname.startsWith('/graphiql/');
      if (!isAsset && !acceptsHtml(headers.get('accept'))) return;
      if (pathname === '/') {
        endResponse(new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } }));
        return;
      }
      if (!isAsset && pathname !== '/graphql') return;
      const file = await loadOnce().then(
        (files) => files.get(pathname),
        (error: unknown) => {
          options.report(error, serverContext.requestRecord?.requestId);
          const httpError = { status: 500, ...toClientError(error) };
          endResponse(httpErrorResponse(httpError, serverContext, fetchAPI));
        },
      );
      if (file === undefined) return;
      const isGzipped = options.compressResponses && /\bgzip\b/.test(headers.get('accept-encoding') ?? '');
      const fileHeaders = {
        'content-security-policy': contentSecurityPolicy,
        ...(isAsset ? assetHeaders : pageHeaders),
        'content-type': String(file.contentType),
        ...(isGzipped && { 'content-encoding': 'gzip' }),
      };
      endResponse(new fetchAPI.Response(isGzipped ? file.gzipped : file.bytes, { headers: fileHeaders }));
    },
  };
}

/** The page and the files that it loads, by their paths. */
async function load({ bearer, liveHost, trustedDocuments }: GraphiqlOptions) {
  const [assets, tabs] = await Promise.all([
    readAssets(),
    trustedDocuments === undefined ? readTabs(bearer !== undefined) : trustedDocumentTabs(trustedDocuments),
  ]);
  const html = renderPage(assets, tabs, bearer, liveHost);
  const page = await createAsset('page.html', new TextEncoder().encode(html));
  const files = new Map<string, Asset>([['/graphql', page]]);
  for (const asset of assets.values()) files.set(`/${asset.url}`, asset);
  return files;
}
