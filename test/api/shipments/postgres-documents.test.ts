import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { pathOf, startLabelShop } from '../../fixtures/label-shop.ts';
import {
  isPostgresMissing,
  newSchema,
  openStore,
  parsedUrl,
  sharedPostgres,
  startPostgres,
} from '../../fixtures/postgres.ts';

/** Starts a server with the keys and the documents of a schema. */
async function startWithSchema(schema: string, server = sharedPostgres()) {
  const postgres = await server;
  const keyStore = await openStore(parsedUrl(postgres, schema));
  const shop = await startLabelShop({ STATE_URL: postgres.url(`?schema=${schema}`) }, { keyStore });
  return {
    ...shop,
    postgres,
    keyStore,
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
      await keyStore.close();
    },
  };
}

describe.skipIf(isPostgresMissing)('with documents in PostgreSQL', () => {
  test('two servers open the links of each other, and a restart keeps the links', async () => {
    const schema = newSchema();
    await using one = await startWithSchema(schema);
    let link: string;
    {
      await using other = await startWithSchema(schema);
      link = pathOf(await other.make(['s1', 's2']));
      const ofOne = pathOf(await one.make(['s3']));
      const responses = await Promise.all([one.fetch(link), other.fetch(link), other.fetch(ofOne)]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      const [first, second] = await Promise.all(responses.map((response) => response.bytes()));
      expect(Buffer.compare(first ?? Buffer.alloc(0), second ?? Buffer.alloc(0))).toBe(0);
      expect(Buffer.from(first ?? []).toString('latin1', 0, 5)).toBe('%PDF-');
    }
    await using restarted = await startWithSchema(schema);
    const response = await restarted.fetch(link);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect((await response.bytes()).length).toBe(Number(response.headers.get('content-length')));
  });

  test('a dump of the tables has neither ids, nor tokens, nor a part of a PDF', async () => {
    const schema = newSchema();
    await using app = await startWithSchema(schema);
    const link = pathOf(await app.make(['CANARY1'], 'summary: true', 'canary-token'));
    const id = link.slice('/documents/'.length, -'.pdf'.length);
    const rows = [
      ...(await app.postgres.sql(`SELECT * FROM ${schema}.documents`)),
      ...(await app.postgres.sql(`SELECT * FROM ${schema}.document_parts`)),
    ];
    expect(rows).toHaveLength(2);
    const dump = rows
      .flatMap((row) => Object.values(row))
      .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
      .join('\n');
    for (const canary of [id, 'canary-token', 'CANARY1', '%PDF', 'xref', 'condor-veloz'])
      expect(dump).not.toContain(canary);
    const bytes = Buffer.from(id, 'base64url').toString('latin1');
    expect(dump).not.toContain(bytes);
  });

  test('if REST rejects a token at one server, the links of the token end at all servers', async () => {
    const schema = newSchema();
    await using one = await startWithSchema(schema);
    await using other = await startWithSchema(schema);
    const [ana, eva] = [pathOf(await one.make(['s1'], '', 'ana')), pathOf(await one.make(['s1'], '', 'eva'))];
    other.shop.rejected.add('ana');
    await other.ask('{ shipment(id: "s1") { id } }', 'ana');
    const statusOf = async (app: typeof one, link: string) =>
      (await app.fetch(link, { method: 'HEAD' })).status;
    await expect.poll(() => statusOf(one, ana)).toBe(410);
    expect(await statusOf(one, eva)).toBe(200);
  });

  test('a link works until its expireTime, even if the store is slow', async () => {
    const schema = newSchema();
    await using app = await startWithSchema(schema);
    const client = new Client({ connectionString: app.postgres.url() });
    await client.connect();
    await client.query(`BEGIN; LOCK TABLE ${schema}.document_parts`);
    const pending = app.make(['s2'], '', 'eva');
    const waiting = `SELECT FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%victim%${schema}.document_parts%'`;
    try {
      await expect.poll(() => app.postgres.sql(waiting)).toHaveLength(1);
    } finally {
      await client.end();
    }
    const { result } = await pending;
    const [row] = await app.postgres.sql(
      `SELECT max(expires_ms)::float8 AS "expiresAtMs" FROM ${schema}.documents`,
    );
    expect(Date.parse(result?.document?.expireTime ?? '')).toBeLessThanOrEqual(row?.expiresAtMs);
  });

  test('the rows of a document are deleted after the document expires', async () => {
    const schema = newSchema();
    await using app = await startWithSchema(schema);
    await app.make(['s1'], 'expiresInMinutes: 1');
    await app.postgres.sql(`UPDATE ${schema}.documents SET expires_ms = 0`);
    await app.postgres.sql(`UPDATE ${schema}.document_parts SET expires_ms = 0`);
    const count = async () =>
      (
        await app.postgres.sql(
          `SELECT FROM ${schema}.documents UNION ALL SELECT FROM ${schema}.document_parts`,
        )
      ).length;
    await expect.poll(count).toBe(0);
  });

  test('without PostgreSQL, a link returns 503 and the mutation fails with OVERLOADED', async () => {
    const postgres = await startPostgres();
    const schema = newSchema();
    try {
      await using app = await startWithSchema(schema, Promise.resolve(postgres));
      const link = pathOf(await app.make(['s1']));
      await postgres.kill();
      const response = await app.fetch(link);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect((await response.json()).errors[0].extensions.code).toBe('OVERLOADED');
      await expect.poll(() => app.keyStore.failure()).toBeDefined();
      const before = app.calls().length;
      const { result, errors } = await app.make(['s1']);
      expect(app.calls()).toHaveLength(before);
      expect(result).toBeNull();
      expect(errors).toMatchObject([{ code: 'OVERLOADED', retryable: true }]);
    } finally {
      await postgres.close();
    }
  });
});
