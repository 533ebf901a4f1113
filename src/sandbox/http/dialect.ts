// The dialect of a service: its names of list parameters, and the form of its errors. Quirks of the request choose it.
// The routes know only the default one, so a query is translated before its route, and an error after it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Quirks } from '../faults/quirks.ts';
import { invalid, type ServiceError } from '../interface/service-error.ts';

const unknownField = 'is not a known field';

/**
 * Gives the parameters of a list the names of its schema, and leaves out those that it ignores.
 * @throws ServiceError 400 for parameters that the list does not have.
 */
export function readQuery(request: FastifyRequest): void {
  const { parameterNames, unknownParameters } = request.quirks;
  // Without these quirks, the schema refuses unknown parameters together with all other faults.
  if (unknownParameters === 'refused' && Object.keys(parameterNames).length === 0) return;
  const schema: { properties?: object } | undefined = Object(request.routeOptions.schema?.querystring);
  if (schema?.properties === undefined) return;
  const query: Record<string, unknown> = { ...Object(request.query) };
  const known = Object.keys(schema.properties).map((name) => [name, parameterNames[name] ?? name] as const);
  const unknown = Object.keys(query).filter((name) => !known.some(([, sentName]) => sentName === name));
  if (unknown.length > 0 && unknownParameters === 'refused') {
    throw invalid(...unknown.map((field) => ({ field, message: unknownField })));
  }
  const values = known.map(([name, sentName]) => [name, query[sentName]] as const);
  request.query = Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Sends an error in the form of the quirks. Errors of a query have its names of parameters. */
export function sendError(error: ServiceError, request: FastifyRequest, reply: FastifyReply): void {
  const { errorBody, parameterNames } = request.quirks;
  const details = error.details.map(({ field, message }) => ({
    // An unknown parameter has the name that was sent already.
    field: message === unknownField ? field : parameterNames[field] || field,
    message,
  }));
  const isOfQuery = request.method === 'GET' && error.code === 400 && details.length > 0;
  const named = isOfQuery ? invalid(...details) : error;
  const [type, body] = errorText(named, errorBody);
  reply.code(error.code).type(type).send(body);
}

/** The content type and the body of an error. */
export function errorText(error: ServiceError, form: Quirks['errorBody']): [type: string, body: string] {
  const json = error.toJson();
  const { code, status, message, details } = json.error;
  const errors = details.map(({ field, message: detail }) => ({
    pointer: `#/${field.replaceAll('.', '/')}`,
    detail,
  }));
  const bodies: Record<Quirks['errorBody'], [type: string, body: unknown]> = {
    google: ['application/json', json],
    problem: ['application/problem+json', { title: status, status: code, detail: message, errors }],
    flat: ['application/json', { code: status, message, errors: details }],
    text: ['text/plain', message],
  };
  const [type, body] = bodies[form];
  return [`${type}; charset=utf-8`, typeof body === 'string' ? body : JSON.stringify(body)];
}
