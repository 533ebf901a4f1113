import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { codeBlockOf, readPage, rowsOf, sectionOf } from '../fixtures/markdown.ts';
import { readContainerConfig } from './dockerfile.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const container = readContainerConfig();
const goingLive = readPage('docs/going-live.md');

/** The longest shutdown with default settings, as docs/operations/deploy.md says. */
function longestShutdownSeconds(): number {
  const { drainWaitMs, drainGraceMs } = readConfig({});
  return (drainWaitMs + drainGraceMs) / 1_000 + 4;
}

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'), { merge: true });
  const servers = ['waybill', 'waybill-1', 'waybill-2'].map((name) => services[name]);

  test('has a stop grace period that is longer than the longest shutdown', () => {
    for (const server of servers)
      expect(parseFloat(server.stop_grace_period)).toBeGreaterThan(longestShutdownSeconds());
  });

  test('gives Waybill a read-only file system and the volume of the image', () => {
    expect(services.waybill).toMatchObject({
      build: '.',
      read_only: true,
      cap_drop: ['ALL'],
      volumes: [`keys:${container.volume}`],
    });
  });

  test('publishes Waybill only on the local machine', () => {
    expect(services.waybill.ports).toEqual([`127.0.0.1:${container.port}:${container.port}`]);
  });

  test('starts Caddy only with the profile "tls", after Waybill is healthy', () => {
    expect(services.waybill.profiles).toBeUndefined();
    expect(services.caddy).toMatchObject({
      profiles: ['tls'],
      depends_on: { waybill: { condition: 'service_healthy' } },
    });
  });

  test.each(['caddy', 'caddy-of-two'])('sends no call to Waybill through a proxy: %s', (name) => {
    // `environment` wins over `env_file`.
    expect(services[name].env_file).toEqual([{ path: 'waybill.env', required: false }]);
    expect(services[name].environment).toMatchObject({ HTTP_PROXY: '', http_proxy: '' });
    expect(services[name].environment).not.toHaveProperty('HTTPS_PROXY');
  });

  test('has two servers with their keys in PostgreSQL in the profile "servers"', () => {
    const inProfile = Object.keys(services).filter((name) => services[name].profiles?.includes('servers'));
    expect(inProfile).toEqual(['waybill-1', 'waybill-2', 'caddy-of-two', 'postgres']);
    const stateFile = { path: 'state.env', required: false };
    for (const server of servers.slice(1)) {
      expect(server).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        depends_on: { postgres: { condition: 'service_healthy' } },
      });
      expect(server.env_file).toEqual(['rest.env', { path: 'waybill.env', required: false }, stateFile]);
      expect([server.ports, server.volumes]).toEqual([undefined, undefined]);
    }
    expect(services.postgres.env_file).toEqual([stateFile]);
    expect(services.postgres.ports).toBeUndefined();
    expect(services['caddy-of-two'].depends_on).toEqual({
      'waybill-1': { condition: 'service_healthy' },
      'waybill-2': { condition: 'service_healthy' },
    });
  });

  test('starts no server of the profile "servers" without STATE_URL', () => {
    for (const { environment } of servers.slice(1)) {
      const settings = {
        ...container.environment,
        UPSTREAM_URL: 'https://api.example.com',
        ...environment,
      };
      expect(() => readConfig(settings)).toThrow('or set STATE_URL');
      expect(readConfig({ ...settings, ...readState() }).stateUrl).toBeDefined();
    }
  });

  test('has the user and the database that the URL in docs/going-live.md names', () => {
    const { POSTGRES_PASSWORD, ...settings } = readState();
    expect(readConfig(settings).stateUrl).toMatchObject({
      host: 'postgres',
      port: 5432,
      user: services.postgres.environment.POSTGRES_USER,
      database: services.postgres.environment.POSTGRES_DB,
      password: POSTGRES_PASSWORD,
    });
  });
});

/** The example of `state.env`. */
function readState(): Record<string, string> {
  const lines = codeBlockOf(sectionOf(goingLive, 'Two servers'), 'text').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)));
}

describe('deploy/Caddyfile', () => {
  const caddyfile = read('deploy/Caddyfile');

  test('publishes only the public paths', () => {
    const [, paths = ''] = /@public path (.*)/.exec(caddyfile) ?? [];
    expect(paths.split(' ')).toEqual([
      '/',
      '/graphql',
      '/graphql/',
      '/graphiql/*',
      '/labels/*',
      '/documents/*',
    ]);
    expect(caddyfile.match(/reverse_proxy/g)).toHaveLength(1);
    const { services } = parse(read('compose.yaml'), { merge: true });
    const { HTTP_PROXY, http_proxy, ...variables } = services['caddy-of-two'].environment;
    const upstreams = `waybill:${container.port}`;
    expect(caddyfile).toMatch(/handle @public \{\n(?:\t\t#.*\n)*\t\treverse_proxy /);
    expect(caddyfile).toContain(`\t\treverse_proxy {$WAYBILL_SERVERS:${upstreams}} {\n`);
    expect(caddyfile).toContain('\t\t\t{$WAYBILL_HEALTH_CHECK}\n');
    expect(variables).toEqual({
      WAYBILL_SERVERS: `waybill-1:${container.port} waybill-2:${container.port}`,
      WAYBILL_HEALTH_CHECK: 'health_uri /health/ready',
    });
    expect(caddyfile).toMatch(/\n\trespond 404\n\}\n$/);
  });

  test('supports HTTP/2 and closes idle connections before Waybill does', () => {
    expect(caddyfile).toContain('protocols h1 h2\n');
    const [, seconds = ''] = /\bkeepalive (\d+)s/.exec(caddyfile) ?? [];
    expect(Number(seconds) * 1_000).toBeLessThan(readConfig({}).keepAliveTimeoutMs);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS());
  const ofKind = (kind: string) => documents.find((document) => document.kind === kind);
  const { spec } = ofKind('Deployment');
  const pod = spec.template.spec;
  const [waybill] = pod.containers;
  const settings: Record<string, string> = {
    ...container.environment,
    UPSTREAM_URL: 'https://api.example.com',
    ...Object.fromEntries(
      waybill.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    ),
  };

  test('runs two pods, and one more during an update', () => {
    expect(spec.replicas).toBe(2);
    expect(spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(ofKind('PodDisruptionBudget').spec).toMatchObject({
      minAvailable: 1,
      selector: spec.selector,
    });
  });

  test('starts no pod without STATE_URL', () => {
    expect(() => readConfig(settings)).toThrow('or set STATE_URL');
    // A pod waits for a secret that is missing.
    expect(waybill.envFrom[1]).toEqual({ secretRef: { name: 'waybill' } });
  });

  test('checks on METRICS_PORT whether the process responds', () => {
    const { metricsPort } = readConfig({ ...settings, ...readState() });
    expect(waybill.livenessProbe.httpGet).toEqual({ path: '/health/live', port: metricsPort });
    expect(waybill.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: container.port });
  });

  test('has a termination grace period that is longer than the longest shutdown', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longestShutdownSeconds());
  });

  test('uses the user and the port of the image, and no volume', () => {
    const { userId, groupId, port } = container;
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: groupId,
    });
    expect(waybill.ports).toEqual([
      { containerPort: port },
      { containerPort: Number(settings.METRICS_PORT) },
    ]);
    expect(ofKind('Service').spec.ports).toEqual([{ port: 80, targetPort: port }]);
    expect([waybill.volumeMounts, pod.volumes]).toEqual([undefined, undefined]);
    expect(waybill.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  test('has the names that the commands in docs/going-live.md use', () => {
    const commands = codeBlockOf(sectionOf(goingLive, 'Run it on Kubernetes'), 'sh');
    expect(commands).toContain(`docker push ${waybill.image}\n`);
    expect(commands).toContain(`kubectl create configmap ${waybill.envFrom[0].configMapRef.name} `);
    expect(commands).toContain(`kubectl create secret generic ${waybill.envFrom[1].secretRef.name} `);
    expect(commands).toContain('kubectl apply --filename deploy/kubernetes.yaml\n');
    expect(commands).toContain(`deployment/${ofKind('Deployment').metadata.name}\n`);
  });
});

describe('docs/going-live.md', () => {
  test('contains a docker run command that fits the image', () => {
    const commands = codeBlockOf(sectionOf(goingLive, 'Run it without Compose'), 'sh');
    expect(commands).toContain(` --volume keys:${container.volume} `);
    expect(commands).toContain(` --publish 127.0.0.1:${container.port}:${container.port} `);
    expect(commands).toContain(' --read-only ');
    const [, seconds = ''] = /--stop-timeout (\d+)/.exec(commands) ?? [];
    expect(Number(seconds)).toBeGreaterThan(longestShutdownSeconds());
  });

  test('contains example settings that are valid in the container', () => {
    const lines = codeBlockOf(sectionOf(goingLive, 'Choose your settings'), 'text').trim().split('\n');
    const environment = Object.fromEntries(lines.map((line) => line.split('=')));
    const service = { UPSTREAM_URL: 'https://api.example.com' };
    expect(() => readConfig({ ...container.environment, ...service, ...environment })).not.toThrow();
  });

  test('contains the same figures as the benchmark results', () => {
    const results = readPage('bench/results/2026-11-23-servers.md');
    const figures = rowsOf(sectionOf(goingLive, 'Size'), 'question');
    expect(figures).toHaveLength(3);
    for (const [question = '', ...inPage] of figures) {
      const [, perSecond, , microseconds, , , , , , megabytes] =
        rowsOf(sectionOf(results, question), 'server').find(([server]) => server === 'Waybill') ?? [];
      const medians = [perSecond, microseconds, megabytes].map((cell) => cell?.replace(/ \(.*/, ''));
      expect(inPage, question).toEqual(medians);
    }
  });
});
