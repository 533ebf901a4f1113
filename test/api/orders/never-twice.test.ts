import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { CreateOrderDocument, type CreateOrderInput } from '../../documents.generated.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { randomNumbers } from '../../fixtures/query-generator.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const orders = 200;
const attempts = 5;
const atOnce = 10;

/** Lets the faults befall the next calls in this order, one each; null spares one. */
function failInTurn({ sandbox }: Waybill, faults: (Fault | null)[]): void {
  // A delay of nothing uses up a turn and harms nobody.
  for (const fault of faults) sandbox.faults.add({ ...(fault ?? { kind: 'delay', delayMs: 0 }), times: 1 });
}

/** Records an order as a careful client does: again with the same key, until it knows what came of it. */
async function recordUntilKnown({ ask }: Waybill, input: CreateOrderInput): Promise<string> {
  let last = '';
  for (let attempt = 0; attempt < attempts && last !== 'CreateOrderSuccess'; attempt += 1) {
    const { data, errors } = await ask(CreateOrderDocument, { input });
    last = data.createOrder?.__typename ?? String(errors?.[0]?.extensions.code);
  }
  return last;
}

/** What came of 200 orders with keys, and how often each is in REST's list by its reference, or else by its notes. */
async function recordMany(
  waybill: Waybill,
  fieldsOf: (name: string, index: number) => Partial<CreateOrderInput>,
): Promise<Record<string, number>> {
  const names = Array.from({ length: orders }, (_, index) => `never-twice-${index}`);
  const limit = pLimit(atOnce);
  const outcomes = await limit.map(names, (name, index) =>
    recordUntilKnown(waybill, { ...order, notes: name, idempotencyKey: name, ...fieldsOf(name, index) }),
  );
  waybill.sandbox.faults.clear();
  const response = await fetch(new URL('/v1/orders?pageSize=1000', waybill.sandbox.url), {
    headers: { authorization: `Bearer ${waybill.sandbox.tokens.first}` },
  });
  const list: { orders: { notes: string }[] } = await response.json();
  const kinds = names.map((name, index) => {
    const times = list.orders.filter(({ notes }) => notes === name).length;
    return `${outcomes[index]}, there ${times} times`;
  });
  return Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((other) => other === kind).length]),
  );
}

test('retries of createOrder with a key create each order once if responses are lost', async () => {
  await using waybill = await startWaybill({}, { processingMs: 0 });
  waybill.sandbox.faults.add({ method: 'POST', path: '/v1/orders', kind: 'applied-then-cut' });
  const outcomes = await recordMany(waybill, (referenceId, index) =>
    index % 4 === 0 ? {} : { referenceId },
  );
  expect(outcomes).toEqual({
    'CreateOrderSuccess, there 1 times': 150,
    'OutcomeUnknown, there 1 times': 50,
  });
});

test('retries of createOrder with a key create no order twice under random faults', async () => {
  await using waybill = await startWaybill({}, { processingMs: 0 });
  const random = randomNumbers(20261102);
  const kinds: Fault[] = [
    { kind: 'applied-then-cut' },
    { kind: 'reset' },
    { kind: 'reset-in-body' },
    { kind: 'short' },
    { kind: 'cut-json' },
    { kind: 'status', status: 400 },
    { kind: 'status', status: 429 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
  ];
  // More than there are calls: half of them go well.
  failInTurn(
    waybill,
    Array.from({ length: orders * attempts }, () => kinds[Math.floor(random() * kinds.length * 2)] ?? null),
  );
  const outcomes = await recordMany(waybill, (referenceId) => ({ referenceId }));
  // Which call meets which fault is left to chance, but not that there is none twice, and that none is claimed falsely.
  const kindsSeen = Object.keys(outcomes);
  expect(kindsSeen.filter((kind) => !/, there [01] times$/.test(kind))).toEqual([]);
  expect(kindsSeen.filter((kind) => /^CreateOrderSuccess/.test(kind))).toEqual([
    'CreateOrderSuccess, there 1 times',
  ]);
  expect(kindsSeen).not.toContain('InvalidInput, there 1 times');
  expect(outcomes['CreateOrderSuccess, there 1 times']).toBeGreaterThan(orders / 2);
});
