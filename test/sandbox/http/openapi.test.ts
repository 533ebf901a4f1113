import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../rest/endpoints.ts';
import { type Client, openSandbox, smallSeed } from '../client.ts';

let client: Client;
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, to be asserted.
let document: any;
beforeAll(async () => {
  client = await openSandbox({ seed: smallSeed });
  document = await (await fetch(`${client.sandbox.url}/openapi.json`)).json();
});
afterAll(() => client.close());

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, to be asserted.
function operations(): [string, any][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, to be asserted.
    Object.entries(item as any).map(([method, operation]): [string, any] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

test('GET /openapi.json returns OpenAPI 3.1 without a token', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info.version).toBe('1.0.0');
});

test('the OpenAPI document has exactly the endpoints of the REST client', () => {
  const patterns = operations().map(([name]) => ({
    name,
    pattern: new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const called = endpoints.map(({ line }) => {
    const [call = ''] = line.split('?');
    return patterns.find(({ pattern }) => pattern.test(call))?.name ?? call;
  });
  expect(patterns.map(({ name }) => name).sort()).toEqual([...new Set(called)].sort());
});

test('each operation documents its summary, body, response and errors', () => {
  const ids = new Set<string>();
  for (const [name, operation] of operations()) {
    ids.add(operation.operationId);
    expect(operation.summary, name).toMatch(/^[A-Z].*\.$/);
    const { 401: refusal, ...others } = operation.responses;
    expect(refusal.content['application/json'].schema, name).toEqual({ $ref: '#/components/schemas/Error' });
    const [success] = Object.keys(others).filter((code) => code.startsWith('2'));
    expect(Object.keys(operation.responses[success ?? ''].content)[0], name).toMatch(/json|pdf/);
    if (/^(POST|PATCH)/.test(name)) {
      expect(operation.requestBody.content['application/json'].schema, name).toEqual({
        $ref: expect.stringMatching(/^#\/components\/schemas\//),
      });
    }
  }
  expect(ids.size, 'each has an operationId of its own').toBe(operations().length);
});

test('every reference resolves and every schema is referenced', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference,
  );
  const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...new Set(references)].sort()).toEqual(schemas.sort());
  expect(JSON.stringify(document)).not.toContain('x-name');
  expect(document.components.schemas.Order.required).toContain('customerBehavior');
  expect(document.components.schemas.Order.properties.recipient).toEqual({
    $ref: '#/components/schemas/Recipient',
  });
});

test('the OpenAPI document has the page sizes of a list', () => {
  const parameters =
    document.paths['/v1/channels/{channelId}/conversations/{conversationId}/messages'].get.parameters;
  expect(parameters).toContainEqual({
    in: 'query',
    name: 'pageSize',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  });
});
