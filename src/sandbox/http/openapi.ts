import swagger from '@fastify/swagger';
import type { Server } from './server-type.ts';

/** Publishes the routes' schemas as OpenAPI 3.1 at `GET /openapi.json`. To be called before the routes are added. */
export async function addOpenApi(server: Server): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Order, Shipping and Messaging Service',
        version: '1.0.0',
        description: 'A sandbox of the service: complete, with data made up.',
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    // The plugin would name the schemas def-0, def-1; they carry their names through it and get them back at the end.
    transform: ({ schema, url }) => ({ schema: withMarkedNames(schema), url }),
    transformObject: (document) => withComponents('openapiObject' in document ? document.openapiObject : {}),
  });
  server.get('/openapi.json', { config: { open: true }, schema: { hide: true } }, () => server.swagger());
}

const mark = 'x-name';

function withMarkedNames<Schema>(schema: Schema): Schema {
  // A copy with one key renamed: still the same kind of schema to the plugin, which reads no more of it.
  return mapped(schema, ({ $id, ...rest }) =>
    $id === undefined ? rest : { ...rest, [mark]: $id },
  ) as Schema;
}

function withComponents(document: object): object {
  const schemas: Record<string, unknown> = {};
  const withReferences = mapped(document, ({ [mark]: name, ...schema }) => {
    if (typeof name !== 'string') return schema;
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }) as { components?: object };
  return { ...withReferences, components: { ...withReferences.components, schemas } };
}

/** A copy in which every object has been put through the function, the innermost first. */
function mapped(value: unknown, change: (object: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, mapped(item, change)]);
  return change(Object.fromEntries(entries));
}
