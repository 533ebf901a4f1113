import swagger from '@fastify/swagger';
import type { Server } from './server-type.ts';

/** Publishes the routes' schemas as OpenAPI 3.1 at `GET /openapi.json`. Call this before routes are added. */
export async function addOpenApi(server: Server): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Order, Shipping and Messaging Service',
        version: '1.0.0',
        description: 'A sandbox of the whole service, with made-up data.',
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    // The plugin would name the schemas def-0, def-1. A marker keeps each name until the end.
    transform: ({ schema, url }) => ({ schema: markNames(schema), url }),
    transformObject: (document) =>
      moveToComponents('openapiObject' in document ? document.openapiObject : {}),
  });
  server.get('/openapi.json', { config: { open: true }, schema: { hide: true } }, () => server.swagger());
}

const nameMarker = 'x-name';

function markNames<Schema>(schema: Schema): Schema {
  // The copy has one renamed key. For the plugin it is still the same kind of schema.
  return mapObjects(schema, ({ $id, ...rest }) =>
    $id === undefined ? rest : { ...rest, [nameMarker]: $id },
  ) as Schema;
}

function moveToComponents(document: object): object {
  const schemas: Record<string, unknown> = {};
  const withReferences = mapObjects(document, ({ [nameMarker]: name, ...schema }) => {
    if (typeof name !== 'string') return schema;
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }) as { components?: object };
  return { ...withReferences, components: { ...withReferences.components, schemas } };
}

/** Copies a value and transforms every object in it, the innermost first. */
function mapObjects(value: unknown, transformObject: (object: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, transformObject));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, mapObjects(item, transformObject)]);
  return transformObject(Object.fromEntries(entries));
}
