import type { Plugin } from 'graphql-yoga';
import { type NodeContext, refusalResponse } from '../graphql/yoga-request.ts';
import { nothingHere } from '../http/http-error.ts';

/** Answers requests for what is no route of this server. Stands behind all plugins that answer other routes. */
export function unknownAddress(): Plugin<object, NodeContext> {
  return {
    onRequest({ url: { pathname }, serverContext, endResponse, fetchAPI }) {
      if (pathname === '/graphql' || pathname === '/graphql/') return;
      endResponse(refusalResponse(nothingHere, serverContext, fetchAPI));
    },
  };
}
