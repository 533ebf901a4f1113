import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import { alterResponse, replacesResponse, sendReplacement } from './faults/fault-effects.ts';
import type { FaultSource } from './faults/faults.ts';
import type { Quirks } from './faults/quirks.ts';
import { authenticate, unauthenticated } from './http/authentication.ts';
import { errorText, readQuery, sendError } from './http/dialect.ts';
import { addOpenApi } from './http/openapi.ts';
import { createEntry, type RequestSink } from './http/request-log.ts';
import { alterPage, setDate } from './http/response-quirks.ts';
import type { Server, Service } from './http/server-type.ts';
import { requestCompiler, responseCompiler } from './http/validation.ts';
import { notFound, toServiceError } from './interface/service-error.ts';
import { applyDueTransitions } from './rules/due-transitions.ts';

const maxBodyBytes = 256 * 1024;

/** The parts of a sandbox that its HTTP server needs. */
export interface ServerOptions {
  service: Service;
  faults: FaultSource;
  /** The quirks of requests without a fault of the kind `quirks`. */
  quirks: Quirks;
  log: RequestSink;
  /** Receives every error that is the sandbox's own mistake. */
  report(error: unknown): void;
}

/** Creates the HTTP server of the whole REST interface. It does not listen yet. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { service, faults, quirks, log, report } = options;
  const closing = new AbortController();
  const server: Server = Fastify({
    bodyLimit: maxBodyBytes,
    // Closes pending and keep-alive connections too.
    forceCloseConnections: true,
    // A template parameter may have the name `__proto__`. JSON.parse makes it an ordinary field.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    exposeHeadRoutes: false,
    // A path without the prefix has no route.
    rewriteUrl: ({ url = '' }) =>
      url.startsWith(`${quirks.prefix}/`) ? url.slice(quirks.prefix.length) : `/no-prefix${url}`,
    // The schema rejects identifiers that are too long, not the router.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, _request, reply) => {
      const serviceError = toServiceError(error);
      setDate(reply.raw, quirks, service.clock);
      const [type, body] = errorText(serviceError, quirks.errorBody);
      reply.raw.writeHead(serviceError.code, { 'content-type': type });
      reply.raw.end(body);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  server.removeContentTypeParser('text/plain');
  server.setValidatorCompiler(requestCompiler);
  server.setSerializerCompiler(responseCompiler);
  server.decorateRequest('merchant');
  server.decorateRequest('accessToken');
  server.decorateRequest('fault');
  server.decorateRequest('quirks');
  server.decorateRequest('entry');

  server.addHook('preClose', async () => closing.abort());

  server.addHook('onRequest', async (request) => {
    const caller = authenticate(service.store.merchants, request.headers.authorization);
    const { text, token } = caller;
    request.entry = createEntry(request.raw, caller);
    log.add(request.entry);
    request.fault = faults.take(request.method, request.entry.path, text);
    request.quirks = request.fault?.kind === 'quirks' ? { ...quirks, ...request.fault.quirks } : quirks;
    const { open, takesEndedToken } = request.routeOptions.config;
    if (token !== undefined && (!token.hasEnded || takesEndedToken)) {
      request.accessToken = token;
      request.merchant = token.merchant;
    } else if (!open && !replacesResponse(request.fault)) {
      throw unauthenticated(caller);
    }
  });

  server.addHook('preValidation', async (request, reply) => {
    const { fault } = request;
    request.entry.body = request.body;
    if (replacesResponse(fault)) {
      sendReplacement(fault, request, reply);
      return reply;
    }
    readQuery(request);
    if (fault?.kind === 'delay') await sleep(fault.delayMs, undefined, { signal: closing.signal });
  });

  server.addHook('preHandler', async () => applyDueTransitions(service.store, service.clock));

  server.addHook('onSend', async (request, reply, payload) => {
    if (request.fault?.kind !== 'applied-then-cut') request.entry.status = reply.statusCode;
    setDate(reply.raw, request.quirks, service.clock);
    const response = alterPage(payload, request.quirks);
    return alterResponse(request.fault, request, reply, response, closing.signal);
  });

  server.setErrorHandler((error, request, reply) => {
    if (closing.signal.aborted) {
      // The sandbox closes during the request: neither the client nor the operator needs the error.
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    const serviceError = toServiceError(error);
    if (serviceError.code === 500) report(error);
    if (serviceError.code === 401) reply.header('www-authenticate', 'Bearer realm="sandbox"');
    sendError(serviceError, request, reply);
  });
  server.setNotFoundHandler(({ method, entry }) => {
    throw notFound(`${method} ${entry.path}`);
  });

  await addOpenApi(server);
  await addResources(server, service);
  return server;
}

/** Adds the routes of every file in `resources`. */
async function addResources(server: Server, service: Service): Promise<void> {
  const folder = new URL('resources/', import.meta.url);
  for (const file of readdirSync(folder)) {
    const resource: { addRoutes(server: Server, service: Service): void } = await import(
      new URL(file, folder).href
    );
    resource.addRoutes(server, service);
  }
}
