import { hash } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import { idParameters } from './yoga-documents.ts';

/**
 * Yoga plugin: answers a `GET` by the id of a document with a weak `ETag` of its `data` and of the access token, and with 304
 * where the client has both already. A result with errors has no tag. It must be the first plugin with `onResponse`, so that
 * the others see the 304.
 */
export function yogaEtag(): Plugin {
  const tags = new WeakMap<Request, string>();

  return {
    // `extensions` are not part of the tag: the times of the REST calls differ in each response.
    onResultProcess({ request, result }) {
      if (request.method !== 'GET' || !('data' in result) || !result.data || result.errors?.length) return;
      if (!hasDocumentId(new URL(request.url).searchParams)) return;
      const token = request.headers.get('authorization') ?? '';
      tags.set(request, `W/"${hash('sha256', `${token}\n${JSON.stringify(result.data)}`, 'base64url')}"`);
    },
    onResponse({ request, response, setResponse, fetchAPI }) {
      const tag = tags.get(request);
      if (tag === undefined || response.status !== 200) return;
      const isKnown = request.headers.get('if-none-match')?.includes(tag.slice('W/'.length)) === true;
      const answer = isKnown ? new fetchAPI.Response(null, { status: 304 }) : response;
      answer.headers.set('etag', tag);
      // A browser may keep the response of this token, and asks each time whether it is still the same.
      answer.headers.set('cache-control', 'private, no-cache');
      answer.headers.append('vary', 'authorization, accept');
      if (isKnown) setResponse(answer);
    },
  };
}

/** Whether a URL names its document by an id, or by Apollo's `persistedQuery`. A document in the URL may be secret. */
function hasDocumentId(parameters: URLSearchParams): boolean {
  return (
    idParameters.some((name) => Boolean(parameters.get(name))) ||
    parameters.get('extensions')?.includes('"persistedQuery"') === true
  );
}
