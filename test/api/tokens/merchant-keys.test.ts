import { describe, expect, test } from 'vitest';
import { type KeyedMutation, type KeyedResult, keyedMutations } from '../../fixtures/keyed-mutations.ts';
import { learnMerchants, organizationCall, otherInputMessage } from '../../fixtures/known-merchant.ts';
import { shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { rounds } from '../../fixtures/rounds.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// A key belongs to the merchant: it outlives the access token of the request.

const named = keyedMutations.map((mutation): [string, KeyedMutation] => [mutation.name, mutation]);
const ask = (waybill: Waybill, { document }: KeyedMutation, input: object, token: string) =>
  waybill.ask<KeyedResult, { input: object }>(document, { input }, token);
const postsIn = (calls: readonly string[]) => calls.filter((call) => call.startsWith('POST '));

/** Replaces the first token of the first merchant, as a client does after a while. */
function refresh({ sandbox }: Waybill): string {
  sandbox.endToken(sandbox.tokens.first);
  return sandbox.tokens.firstRefreshed;
}

describe('a keyed retry with a new token after the response of Waybill is lost', () => {
  test.each(named)('returns the result of %s without a POST', async (_name, mutation) => {
    await using waybill = await startWaybill();
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'lost' };
    const lost = await ask(waybill, mutation, input, waybill.sandbox.tokens.first);
    expect(lost.data.result.__typename).toMatch(/Success$/);
    expect(lost.calls).toContain(`POST ${mutation.path}`);

    const again = await ask(waybill, mutation, input, refresh(waybill));
    expect([again.data, again.errors]).toEqual([lost.data, undefined]);
    expect(again.calls[0]).toBe(organizationCall);
    expect(postsIn(again.calls)).toEqual([]);
  });

  test('returns the first result for many pairs of tokens and every mutation', {
    timeout: 100_000,
  }, async () => {
    await using waybill = await startWaybill();
    const { sandbox } = waybill;
    for (let round = 0; round < rounds; round += 1) {
      const [, mutation] = named[round % named.length] ?? [];
      if (mutation === undefined) throw new Error('expected mutations');
      const input = { ...(await mutation.newInput(waybill)), idempotencyKey: `round ${round}` };
      const token = sandbox.issueToken(sandbox.tokens.first);
      const lost = await ask(waybill, mutation, input, token);
      sandbox.endToken(token);
      const again = await ask(waybill, mutation, input, sandbox.issueToken(token));
      expect(again.data).toEqual(lost.data);
      expect([lost, again].map(({ calls }) => postsIn(calls).length > 0)).toEqual([true, false]);
    }
  });
});

describe('a keyed retry with a new token after the REST response is lost', () => {
  /** Runs the mutation, whose answer REST loses. @returns the input. */
  async function lose(waybill: Waybill, mutation: KeyedMutation): Promise<object> {
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'lost' };
    waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: mutation.path, times: 1 });
    const lost = await ask(waybill, mutation, input, waybill.sandbox.tokens.first);
    expect(lost.data.result.__typename).toBe('OutcomeUnknown');
    expect(lost.calls).toContain(`POST ${mutation.path}`);
    return input;
  }

  const found = named.filter(([, { isFoundAgain }]) => isFoundAgain);
  test.each(found)('returns the result of %s without a second POST', async (_name, mutation) => {
    await using waybill = await startWaybill();
    const input = await lose(waybill, mutation);
    const token = refresh(waybill);
    const again = await ask(waybill, mutation, input, token);
    expect(again.data.result.__typename).toMatch(/Success$/);
    expect(postsIn(again.calls)).toEqual([]);
    const later = await ask(waybill, mutation, input, token);
    expect(later.data).toEqual(again.data);
    expect(postsIn(later.calls)).toEqual([]);
    if ('order' in input) {
      const tokens = { ...waybill.sandbox.tokens, first: token };
      const shipments = await shipmentsByOrder({ ...waybill.sandbox, tokens }, startOfTime);
      expect(shipments).toEqual({ [String(input.order)]: 1 });
    }
  });

  const unknown = named.filter(([, { isFoundAgain }]) => !isFoundAgain);
  test.each(unknown)('returns OutcomeUnknown for %s without a second POST', async (_name, mutation) => {
    await using waybill = await startWaybill();
    const input = await lose(waybill, mutation);
    const token = refresh(waybill);
    for (const calls of [[organizationCall], []]) {
      const again = await ask(waybill, mutation, input, token);
      expect(again.data.result.__typename).toBe('OutcomeUnknown');
      expect(again.calls).toEqual(calls);
    }
  });
});

describe('an idempotency key that two tokens of a merchant use', () => {
  test.each(named)('returns Conflict for a different input of %s', async (_name, mutation) => {
    await using waybill = await startWaybill();
    const { first, firstRefreshed } = waybill.sandbox.tokens;
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'one' };
    expect((await ask(waybill, mutation, input, first)).data.result.__typename).toMatch(/Success$/);
    const other = { ...input, ...otherFields[mutation.name] };
    const { data, calls } = await ask(waybill, mutation, other, firstRefreshed);
    expect(data.result).toEqual({ __typename: 'Conflict', message: otherInputMessage });
    expect(calls).toEqual([organizationCall]);
  });

  test.each(named)('lets concurrent requests run %s only once', async (_name, mutation) => {
    await using waybill = await startWaybill();
    const { first, firstRefreshed } = waybill.sandbox.tokens;
    await learnMerchants(waybill, first, firstRefreshed);
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'at once' };
    waybill.sandbox.faults.add({
      kind: 'delay',
      delayMs: 100,
      method: 'POST',
      path: mutation.path,
      times: 1,
    });
    const tokens = [first, firstRefreshed, first, firstRefreshed];
    const answers = await Promise.all(tokens.map((token) => ask(waybill, mutation, input, token)));
    const [{ data } = { data: undefined }] = answers;
    expect(data?.result.__typename).toMatch(/Success$/);
    expect(answers.map((answer) => answer.data)).toEqual(tokens.map(() => data));
    const posts = postsIn(waybill.sandbox.requests.lines());
    expect(posts.filter((post) => post === `POST ${mutation.path}`)).toHaveLength(1);
  });
});

test('equal idempotency keys of two merchants are independent', async () => {
  await using waybill = await startWaybill();
  const { first, second } = waybill.sandbox.tokens;
  for (const [, mutation] of named.filter(([name]) => ['createOrder', 'createQuote'].includes(name))) {
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'same' };
    const own = await ask(waybill, mutation, input, first);
    const other = await ask(waybill, mutation, input, second);
    expect(own.data.result.__typename).toMatch(/Success$/);
    expect(other.data.result.__typename).toMatch(/Success$/);
    expect(other.data).not.toEqual(own.data);
    expect(postsIn(other.calls)).toEqual([`POST ${mutation.path}`]);
  }
});

/** A valid change of each mutation's input. */
const otherFields: Record<string, object> = {
  createOrder: { sellingPriceCents: 1 },
  createQuote: { destination: 'locations/huila-pitalito' },
  createShipment: { requiresPickup: false },
  sendMessage: { content: { text: 'Otra cosa' } },
  sendMessageToPhone: { text: 'Otra cosa' },
  shipOrder: { requiresPickup: false },
};
