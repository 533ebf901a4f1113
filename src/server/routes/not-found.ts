import type { Plugin } from 'graphql-yoga';
import { httpErrorResponse, type NodeContext } from '../graphql/yoga-request.ts';
import { notFoundError } from '../http/http-error.ts';

/** Answers requests for what is no route of this server. Stands behind all plugins that answer other routes. */
export function notFoundRoute(): Plugin<object, NodeContext> {
  return {
    onRequest({ url: { pathname }, serverContext, endResponse, fetchAPI }) {
      if (pathname === '/graphql' || pathname === '/graphql/') return;
      endResponse(httpErrorResponse(notFoundError, serverContext, fetchAPI));
    },
  };
}
