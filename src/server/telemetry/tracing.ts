import type { Plugin } from 'graphql-yoga';
import type { CallObserver } from '../../rest/call-observer.ts';
import type { Exchange, ExchangeContext } from '../log/exchange.ts';

/** Spans of operations, of labels and of the REST calls that they cost. */
export interface Tracing {
  /** Makes a span of each call, within that of the operation or label, and passes it on to REST. */
  readonly calls: CallObserver;
  /** An operation or a label is begun, once it is known who has asked. `headers` are the request's. */
  begin(exchange: Exchange, headers: Headers): void;
  /** It is answered, or was refused before it began. */
  end(exchange: Exchange, headers: Headers, status: number): void;
  /** Sends what has not been sent yet, for as long as the collector takes. */
  close(): Promise<void>;
}

/** Traces operations. Stands behind the log, which knows of them what their spans tell. */
export function tracedOperations(tracing: Tracing): Plugin<object, ExchangeContext> {
  return {
    onExecute({ args }) {
      const { exchange, request }: ExchangeContext & { request: Request } = args.contextValue;
      if (exchange !== undefined) tracing.begin(exchange, request.headers);
    },
    onResponse({ request, response, serverContext: { exchange } }) {
      if (exchange !== undefined) tracing.end(exchange, request.headers, response.status);
    },
  };
}
