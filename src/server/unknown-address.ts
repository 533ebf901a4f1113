import type { Plugin } from 'graphql-yoga';
import type { Refusal } from './http/refusal.ts';
import { type NodeContext, refusalResponse } from './http/request-reading.ts';

export const nothingHere: Refusal = {
  status: 404,
  code: 'BAD_REQUEST',
  message: 'There is nothing at this address: the graph is at "/graphql".',
  retryable: false,
};

/** Answers requests for what is no route of this server. Stands behind all plugins that answer other routes. */
export function unknownAddress(): Plugin<object, NodeContext> {
  return {
    onRequest({ url: { pathname }, serverContext, endResponse, fetchAPI }) {
      if (pathname === '/graphql' || pathname === '/graphql/') return;
      endResponse(refusalResponse(nothingHere, serverContext, fetchAPI));
    },
  };
}
