import type { Plugin } from 'graphql-yoga';
import { notFoundError } from '../http/http-error.ts';
import { httpErrorResponse, type NodeContext } from '../http/node-context.ts';

/** Responds with 404 to every path but `/graphql`. This plugin must follow the plugins of all other routes. */
export function yogaNotFoundRoute(): Plugin<object, NodeContext> {
  return {
    onRequest({ url: { pathname }, serverContext, endResponse, fetchAPI }) {
      if (pathname === '/graphql' || pathname === '/graphql/') return;
      endResponse(httpErrorResponse(notFoundError, serverContext, fetchAPI));
    },
  };
}
