import type { FetchAPI, Plugin } from 'graphql-yoga';
import type { ReportError } from '../../../telemetry/error-report.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import { contentCodingOf } from '../../http/compression.ts';
import { Asset, type Assets, readAssets } from './assets.ts';
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

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

// The page may contain an access token.
const pageHeaders = { 'cache-control': 'no-store', vary: 'accept' };
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };

/**
 * Serves GraphiQL for a browser's `GET /graphql`, and redirects `/` to `/graphql`. This server serves all files,
 * under `/graphiql/`. The first request for the page or a file loads all of them into memory.
 */
export function graphiql(options: GraphiqlOptions): Plugin {
  const { bearer, liveHost, trustedDocuments } = options;
  let loading: Promise<{ assets: Assets; page: Asset }> | undefined;
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
    const page = new TextEncoder().encode(renderPage(assets, tabs, headers, liveHost));
    return { assets, page: new Asset('text/html; charset=utf-8', page) };
  }

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return;
      const fileName = /^\/graphiql\/([^/]*)$/.exec(url.pathname)?.[1];
      if (fileName !== undefined) {
        const asset = (await loadOnce()).assets.byName.get(fileName);
        if (asset !== undefined)
          endResponse(await fileResponse(asset, assetHeaders, request, options, fetchAPI));
      } else if (request.headers.get('accept')?.includes('text/html')) {
        if (url.pathname === '/') {
          endResponse(new fetchAPI.Response(null, { status: 302, headers: { location: 'graphql' } }));
        } else if (url.pathname === '/graphql') {
          const { page } = await loadOnce();
          endResponse(await fileResponse(page, pageHeaders, request, options, fetchAPI));
        }
      }
    },
  };
}

async function fileResponse(
  file: Asset,
  headers: Record<string, string>,
  request: Request,
  { compressResponses, report }: GraphiqlOptions,
  { Response }: FetchAPI,
): Promise<Response> {
  const coding = compressResponses
    ? contentCodingOf(file.bytes.byteLength, request.headers.get('accept-encoding'))
    : undefined;
  const compressed = coding && (await file.compressed(coding).catch((error: unknown) => void report(error)));
  const bytes = compressed ?? file.bytes;
  return new Response(request.method === 'HEAD' ? null : bytes, {
    headers: {
      ...securityHeaders,
      ...headers,
      'content-length': String(bytes.byteLength),
      'content-type': file.contentType,
      ...(compressed && { 'content-encoding': coding }),
    },
  });
}
