import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { appSettings } from '../../../src/process/app-settings.ts';
import type { RestApi } from '../../../src/rest/api.ts';
import { createApp } from '../../../src/server/app.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';

// The audits ask for introspection only, so that no REST service stands behind this server.
const app = createApp({
  keyStore: memoryStore,
  service: 'test',
  api: {} as RestApi,
  settings: { ...appSettings(readConfig({})), showCost: false },
  publicUrl: () => new URL('http://waybill.test'),
  report: (error) => {
    throw error;
  },
});

const audits = serverAudits({ url: 'http://waybill.test/graphql', fetchFn: app.fetch });

test('the audit suite for GraphQL over HTTP has 61 audits', () => expect(audits).toHaveLength(61));

test.each(audits.map((audit) => [audit.name, audit] as const))(
  'the server passes the audit of GraphQL over HTTP: %s',
  async (_name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  },
);
