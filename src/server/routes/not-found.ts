import type { Plugin } from 'graphql-yoga';
import { httpErrorResponse, type YogaContext } from '../graphql/yoga-context.ts';
import { notFoundError } from '../http/http-error.ts';

/** Responds with 404 to every path but `/graphql`. This plugin must follow the plugins of all other routes. */
export function yogaNotFoundRoute(): Plugin<object, YogaContext> {
  return {
    onRequest({ url: { pathname }, serverContext, endResponse, fetchAPI }) {
      if (pathname === '/graphql' || pathname === '/graphql/') return;
      endResponse(httpErrorResponse(notFoundError, serverContext, fetchAPI));
    },
  };
}
