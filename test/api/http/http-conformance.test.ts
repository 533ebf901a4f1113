import { serverAudits } from 'graphql-http';
import { afterAll, expect, test } from 'vitest';
import { exactFetch } from '../../fixtures/exact-fetch.ts';
import { startOffline } from '../../fixtures/start-server.ts';

// The audits ask for introspection only, so that no REST service stands behind this server.
const server = await startOffline();
afterAll(() => server[Symbol.asyncDispose]());

const audits = serverAudits({
  url: new URL('/graphql', server.url).href,
  fetchFn: (url: string, init: RequestInit) => exactFetch(new URL(url), init),
});

test('the audit suite for GraphQL over HTTP has 61 audits', () => expect(audits).toHaveLength(61));

test.each(audits.map((audit) => [audit.name, audit] as const))(
  'the server passes the audit of GraphQL over HTTP: %s',
  async (_name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  },
);
