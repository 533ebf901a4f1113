import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waybill } from '../../bench/peers/servers.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { order } from '../fixtures/order-to-create.ts';
import { readContainerConfig } from './dockerfile.ts';
import { type ReplayedImage, replayImage, whyNoContainer } from './replayed-image.ts';

/** The marks of a package that production does not need. */
interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

const root = resolve(import.meta.dirname, '../..');
const container = readContainerConfig();

test('the container starts Node with the same flags and file as npm start', () => {
  const [, ...flags] = container.entrypoint;
  expect([...flags, ...container.command]).toEqual(waybill.args);
});

test('STATE_FILE is a file in the volume', () => {
  expect(join(container.environment.STATE_FILE ?? '', '..')).toBe(container.volume);
});

const reason = whyNoContainer();
describe.skipIf(reason !== undefined)(
  `a container${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let image: ReplayedImage;
    let sandbox: Sandbox;
    beforeAll(async () => {
      [image, sandbox] = await Promise.all([replayImage(), startSandbox()]);
    }, 120_000);
    afterAll(async () => {
      image?.remove();
      await sandbox?.close();
    });

    const settings = (more: Record<string, string> = {}) => ({
      PORT: '0',
      DRAIN_WAIT_MS: '0',
      LOG_LEVEL: 'silent',
      UPSTREAM_URL: sandbox.url,
      ...more,
    });

    async function ask(url: URL, query: string, variables: object = {}) {
      const response = await fetch(new URL('/graphql', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.tokens.first}` },
        body: JSON.stringify({ query, variables }),
      });
      return response.json();
    }

    test('has exactly the production dependencies', () => {
      const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
      const packages = Object.entries<LockedPackage>(locked).filter(([path]) => path !== '');
      const isProduction = ({ dev, optional, devOptional }: LockedPackage) =>
        !dev && !optional && !devOptional;
      const installed = packages.filter(([path]) => existsSync(join(image.folder, 'app', path)));
      expect(installed.map(([path]) => path)).toEqual(
        packages.filter(([, locked]) => isProduction(locked)).map(([path]) => path),
      );
    });

    test('can write only to its volume', () => {
      expect(image.writablePaths()).toEqual([container.volume]);
    });

    test.concurrent.each([{}, { NODE_ENV: 'staging' }, { NODE_ENV: '', UPSTREAM_URL: '' }])(
      'does not start without UPSTREAM_URL: %j',
      async (environment) => {
        const { code, output, errors } = await image.run(environment).exit;
        expect([code, output]).toEqual([1, '']);
        expect(errors).toMatch(
          /\n {2}UPSTREAM_URL: required because .*\. Set UPSTREAM_URL to the address of the REST service, or to "sandbox"\.\n$/,
        );
      },
    );

    test('serves requests and keeps idempotency keys across a restart', async () => {
      const createOrder = async (url: URL) => {
        const input = { ...order, idempotencyKey: 'image' };
        const query = `mutation ($input: CreateOrderInput!) {
        createOrder(input: $input) { ... on CreateOrderSuccess { order { id } } }
      }`;
        return (await ask(url, query, { input })).data.createOrder.order.id;
      };
      const first = image.run(settings());
      const url = await first.url();
      const id = await createOrder(url);
      expect(await ask(url, 'query ($id: ID!) { order(id: $id) { id } }', { id })).toEqual({
        data: { order: { id } },
      });
      expect(await image.checkHealth({ PORT: url.port })).toBe(0);
      expect(await first.stop()).toMatchObject({ code: 0, errors: '' });
      expect(await image.checkHealth({ PORT: url.port })).toBe(1);
      const stateFile = join(image.folder, container.environment.STATE_FILE ?? '');
      expect(statSync(stateFile).uid).toBe(container.userId);

      const second = image.run(settings());
      expect(await createOrder(await second.url())).toBe(id);
      expect(await second.stop()).toMatchObject({ code: 0, errors: '' });
    });

    test('runs the sandbox with GraphiQL if UPSTREAM_URL is "sandbox"', async () => {
      const server = image.run(settings({ UPSTREAM_URL: 'sandbox', STATE_FILE: 'memory' }));
      const url = await server.url();
      expect(await ask(url, '{ orders(first: 1) { nodes { id } } }')).toHaveProperty(
        'data.orders.nodes.0.id',
      );
      const page = await fetch(new URL('/graphql', url), { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('GraphiQL')]);
      expect(await server.stop()).toMatchObject({ code: 0, errors: '' });
    });

    test('contains only node_modules, package.json and src in /app', () => {
      expect(readdirSync(join(image.folder, 'app')).sort()).toEqual(['node_modules', 'package.json', 'src']);
    });
  },
);
