import { describe, expect, test } from 'vitest';
import { callRoute } from '../../../src/rest/call.ts';
import { readTabs } from '../../../src/server/routes/graphiql/tabs.ts';
import { startWaybill } from '../../harness.ts';

/** What the comment of a tab says of its REST calls, as sorted routes. */
interface Claim {
  /** Each request. */
  always: string[];
  /** A request while Waybill keeps nothing for the token. */
  kept: string[];
  /** The first request of a token that writes with a key. */
  firstWrite: string[];
  /** The first request of a process. */
  compared: string[];
  /** The same request again. Undefined if the comment does not tell repeats apart. */
  repeat: string[] | undefined;
}

/** The words for routes that are longer than a line. */
const routesOfWords: Record<string, string> = {
  'the message': '/v1/channels/{id}/conversations/{id}/messages',
  'the messages': '/v1/channels/{id}/conversations/{id}/messages',
  'the channels': '/v1/channels',
  "the channel's templates": '/v1/channels/{id}/templates',
};

/** The calls that a sentence names, such as "GET /v1/orders" and "GET of the messages". */
function callsIn(sentence: string): string[] {
  const named = sentence.matchAll(/\b(GET|POST) (?:(\/v1\/[\w/{}]+)|of (the [\w' ]+?)(?= and |[.,]|$))/g);
  return Array.from(named, ([, method, path, words = '']) => `${method} ${path ?? routesOfWords[words]}`);
}

function claimOf(query: string): Claim {
  const comment = /^(?:# .*\n)+/.exec(query)?.[0].replace(/\n?# /g, ' ').trim() ?? '';
  const claim: Claim = { always: [], kept: [], firstWrite: [], compared: [], repeat: undefined };
  for (const sentence of comment.split(/(?<=\.)\s/)) {
    const calls = callsIn(sentence);
    if (calls.length === 0) continue;
    if (sentence.endsWith(', which Waybill keeps for a minute.')) claim.kept.push(...calls);
    else if (sentence.startsWith("A token's first write also costs ")) claim.firstWrite.push(...calls);
    else if (sentence.startsWith('Every 10 minutes, ')) claim.compared.push(...calls);
    else if (sentence.startsWith('A repeat of the key costs ')) claim.repeat = calls;
    else if (sentence.startsWith('Costs ')) claim.always.push(...calls);
    else throw new Error(`This test does not know when "${sentence}" is true.`);
  }
  return claim;
}

/** The route that a comment names once, and that is called for each label. */
const forEachLabel = 'GET /v1/shipments/{id}/label';

const routesOf = (calls: string[]) =>
  calls
    .map((line) => {
      const [method = '', path = ''] = line.split(/[ ?]/);
      return `${method} ${callRoute({ method: 'GET', path })}`;
    })
    .filter((route, index, routes) => route !== forEachLabel || routes.indexOf(route) === index)
    .sort();

/** The tab with another key. An order ships once, so it is also another order. */
const withOtherKey = (query: string) =>
  query.replace('idempotencyKey: "', 'idempotencyKey: "other-').replace('orders/ca2496', 'orders/ca2480');

describe('the comment of a GraphiQL tab', async () => {
  // A subscription costs what its query costs.
  const tabs = (await readTabs(true))
    .map((text) => text.replace(/^subscription /m, 'query '))
    .map((query) => ({
      title: /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1],
      query,
      claim: claimOf(query),
    }));

  test.each(tabs)(
    'names the calls of the first and of later requests of a token: $title',
    async ({ query, claim }) => {
      await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' });
      const { always, kept, firstWrite, compared, repeat } = claim;
      const first = await waybill.ask(query);
      expect(routesOf(first.calls)).toEqual([...always, ...kept, ...firstWrite, ...compared].sort());

      const later = await waybill.ask(withOtherKey(query));
      // A refused write would cost less.
      expect(JSON.stringify(later.data)).not.toContain('"message"');
      expect(routesOf(later.calls)).toEqual([...always].sort());

      const again = await waybill.ask(query);
      expect(routesOf(again.calls)).toEqual((repeat ?? always).sort());
    },
  );

  test.each(tabs)(
    'names the calls of the first request of a second token: $title',
    async ({ query, claim }) => {
      await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' });
      await waybill.ask(query);
      const { always, kept, firstWrite } = claim;
      const other = await waybill.ask(withOtherKey(query), undefined, waybill.sandbox.tokens.firstRefreshed);
      expect(routesOf(other.calls)).toEqual([...always, ...kept, ...firstWrite].sort());
    },
  );

  test.each([
    ['CreateOrder', 'ShipOrder', 'SendMessage'],
    ['ShipOrder', 'SendMessage', 'CreateOrder'],
    ['SendMessage', 'CreateOrder', 'ShipOrder'],
  ])('names a call that only the first write of a token makes: %s, %s, %s', async (...titles) => {
    await using waybill = await startWaybill();
    const readsOfMerchant: number[] = [];
    for (const title of titles) {
      const { calls } = await waybill.ask(tabs.find((tab) => tab.title === title)?.query ?? '');
      readsOfMerchant.push(calls.filter((call) => call === 'GET /v1/organizations/mine').length);
    }
    expect(readsOfMerchant).toEqual([1, 0, 0]);
  });

  test('gives the cost of the first write and of a repeat for each write with a key', () => {
    const mutations = tabs.filter(({ query }) => /\bidempotencyKey\b/.test(query));
    expect(mutations.map(({ title }) => title)).toEqual(['CreateOrder', 'ShipOrder', 'SendMessage']);
    for (const { claim } of mutations) {
      expect(claim.firstWrite).toEqual(['GET /v1/organizations/mine']);
      expect(claim.repeat).toHaveLength(1);
    }
  });
});
