import { afterAll, describe, expect, test } from 'vitest';
import { examine } from '../../src/doctor/examine.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { dialectOf } from '../fixtures/dialects.ts';
import { startSeededSandbox } from '../fixtures/seeded-sandbox.ts';
import { trimmedSeed } from '../fixtures/trimmed-seed.ts';
import { startWaybill, type Waybill } from '../harness.ts';

interface Order {
  id: string;
  status: string;
}

interface Connection<Node> {
  nodes: Node[];
  pageInfo: { endCursor: string };
}

/** What is wrong with the responses of Waybill in a round of reads. */
async function faultsOfRound({ ask }: Waybill): Promise<string[]> {
  const faults: string[] = [];
  const read = async <Node>(field: string): Promise<Connection<Node> | undefined> => {
    const { data, errors } = await ask<Record<string, Connection<Node>>, object>(`{ ${field} }`);
    if (errors !== undefined) faults.push(`${field}: ${errors[0]?.message}`);
    return errors === undefined ? Object.values(data)[0] : undefined;
  };
  const check = (what: string, holds: boolean) => {
    if (!holds) faults.push(what);
  };
  const orders = (args: string) =>
    read<Order>(`orders(${args}) { nodes { id status } pageInfo { endCursor } }`);

  const first = await orders('first: 7');
  const second = await orders(`first: 7, after: "${first?.pageInfo.endCursor}"`);
  const ids = [first, second].flatMap((page) => page?.nodes.map(({ id }) => id) ?? []);
  check('two pages have 14 orders', new Set(ids).size === 14);
  const cancelled = await orders('first: 7, status: [CANCELLED]');
  check(
    '7 orders are cancelled',
    cancelled?.nodes.filter(({ status }) => status === 'CANCELLED').length === 7,
  );
  const found = await orders('first: 7, search: "+573104567890"');
  check('a search finds one customer', (found?.nodes.length ?? 0) > 1);
  const wanted = await read<{ id: string }>('locations(first: 50, search: "vichada") { nodes { id } }');
  const isWanted = wanted?.nodes.every(({ id }) => id.includes('vichada')) ?? false;
  check('a search finds the locations of a department', isWanted && wanted?.nodes.length === 4);
  await read('shipments(first: 7) { nodes { id status } }');
  await read('channels { nodes { id templates { nodes { name } } } }');
  return faults;
}

/** By prefix. A prefix is an option of the whole sandbox. */
const sandboxes = new Map<string, Sandbox>();
afterAll(async () => {
  for (const sandbox of sandboxes.values()) await sandbox.close();
});

async function sandboxWith(prefix: string): Promise<Sandbox> {
  const options = { seed: trimmedSeed, quirks: { prefix } };
  const sandbox = sandboxes.get(prefix) ?? (await startSeededSandbox(options));
  sandboxes.set(prefix, sandbox);
  return sandbox;
}

describe.each(Array.from({ length: 12 }, (_, index) => index + 1))('REST dialect %i', (seed) => {
  test('works only with the settings that the doctor finds', async () => {
    const quirks = dialectOf(seed);
    const sandbox = await sandboxWith(quirks.prefix ?? '');
    sandbox.faults.clear();
    sandbox.faults.add({ kind: 'quirks', quirks });
    const options = { url: new URL(sandbox.url), token: sandbox.tokens.first, spacingMs: 0 };
    sandbox.requests.clear();
    const { isUsable, calls, settings, findings } = await examine(options);
    expect(findings.filter(({ mark }) => mark === 'failure')).toEqual([]);
    expect(isUsable).toBe(true);
    expect(calls).toBeLessThanOrEqual(80);
    expect(sandbox.requests.entries().every(({ method }) => method === 'GET')).toBe(true);
    expect(settings).toMatchObject({
      UPSTREAM_URL: sandbox.url,
      PAGE_SIZE_PARAMETER: quirks.parameterNames.pageSize,
      PAGE_TOKEN_PARAMETER: quirks.parameterNames.pageToken,
      STATUS_PARAMETER: quirks.parameterNames.status,
      SEARCH_PARAMETER: quirks.parameterNames.search,
      QUERY_PARAMETER: quirks.parameterNames.query,
    });
    {
      await using waybill = await startWaybill(settings, { sandbox });
      expect(await faultsOfRound(waybill)).toEqual([]);
    }
    await using waybill = await startWaybill({ UPSTREAM_URL: sandbox.url }, { sandbox });
    expect(await faultsOfRound(waybill)).not.toEqual([]);
  });
});
