import { setTimeout as sleep } from 'node:timers/promises';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import { answerInstead, isInsteadOfAnswer, spoil } from './faults/fault-effects.ts';
import type { FaultSource } from './faults/faults.ts';
import type { Quirks } from './faults/quirks.ts';
import { callerOf } from './http/authentication.ts';
import { addOpenApi } from './http/openapi.ts';
import { entryOf, type RequestSink } from './http/request-log.ts';
import { setDate, withoutLackingFields } from './http/response-quirks.ts';
import type { Server, Service } from './http/server-type.ts';
import { answerCompiler, requestCompiler } from './http/validation.ts';
import { notFound, refusalOf, ServiceError } from './interface/service-error.ts';
import { addChannelRoutes } from './resources/channels.ts';
import { addLabelRoutes } from './resources/labels.ts';
import { addMessageRoutes } from './resources/messages.ts';
import { addOrderRoutes } from './resources/orders.ts';
import { addPlaceRoutes } from './resources/places.ts';
import { addQuoteRoutes } from './resources/quotes.ts';
import { addShipmentRoutes } from './resources/shipments.ts';
import { bringUpToDate } from './rules/timetable.ts';

const maxBodyBytes = 256 * 1024;

export interface ServerOptions {
  service: Service;
  faults: FaultSource;
  /** The standing quirks. */
  quirks: Quirks;
  log: RequestSink;
  /** Is told of every error that is the sandbox's own mistake. */
  report(error: unknown): void;
}

/** The REST interface over HTTP, whole, and not listening yet. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { service, faults, quirks, log, report } = options;
  const closing = new AbortController();
  const server: Server = Fastify({
    bodyLimit: maxBodyBytes,
    // Also ends what hangs, and connections kept alive.
    forceCloseConnections: true,
    // A parameter of a template may be called `__proto__`; JSON.parse makes it a field like any other.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    exposeHeadRoutes: false,
    // Identifiers that are too long are refused by their schema, not by the router.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, _request, reply) => {
      const refusal = refusalOf(error);
      setDate(reply.raw, quirks, service.clock);
      reply.raw.writeHead(refusal.code, { 'content-type': 'application/json; charset=utf-8' });
      reply.raw.end(JSON.stringify(refusal.toAnswer()));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  server.removeContentTypeParser('text/plain');
  server.setValidatorCompiler(requestCompiler);
  server.setSerializerCompiler(answerCompiler);
  server.decorateRequest('merchant');
  server.decorateRequest('fault');
  server.decorateRequest('quirks');
  server.decorateRequest('entry');

  server.addHook('preClose', async () => closing.abort());

  server.addHook('onRequest', async (request) => {
    const { bearer, merchant } = callerOf(service.store.merchants, request.headers.authorization);
    request.entry = entryOf(request.raw, bearer);
    log.add(request.entry);
    request.fault = faults.take(request.method, request.entry.path);
    request.quirks = request.fault?.kind === 'quirks' ? { ...quirks, ...request.fault.quirks } : quirks;
    if (merchant !== undefined) request.merchant = merchant;
    else if (!request.routeOptions.config.open && !isInsteadOfAnswer(request.fault)) {
      throw new ServiceError(
        401,
        bearer === 'none' ? 'A bearer token is required' : 'This bearer token is unknown',
      );
    }
  });

  server.addHook('preValidation', async (request, reply) => {
    const { fault } = request;
    request.entry.body = request.body;
    if (isInsteadOfAnswer(fault)) {
      answerInstead(fault, request, reply);
      return reply;
    }
    if (fault?.kind === 'delay') await sleep(fault.delayMs, undefined, { signal: closing.signal });
  });

  server.addHook('preHandler', async () => bringUpToDate(service.store, service.clock));

  server.addHook('onSend', async (request, reply, payload) => {
    if (request.fault?.kind !== 'applied-then-cut') request.entry.status = reply.statusCode;
    setDate(reply.raw, request.quirks, service.clock);
    const answer = withoutLackingFields(payload, request.quirks.rowsLack);
    return spoil(request.fault, request, reply, answer, closing.signal);
  });

  server.setErrorHandler((error, request, reply) => {
    if (closing.signal.aborted) {
      // Closed in mid-request: there is nobody left to be told, neither the client nor the operator.
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    if (refusal.code === 500) report(error);
    if (refusal.code === 401) reply.header('www-authenticate', 'Bearer realm="sandbox"');
    reply.code(refusal.code).send(refusal.toAnswer());
  });
  server.setNotFoundHandler(({ method, entry }) => {
    throw notFound(`${method} ${entry.path}`);
  });

  await addOpenApi(server);
  addOrderRoutes(server, service);
  addQuoteRoutes(server, service);
  addShipmentRoutes(server, service);
  addLabelRoutes(server, service);
  addPlaceRoutes(server, service);
  addChannelRoutes(server, service);
  addMessageRoutes(server, service);
  return server;
}
