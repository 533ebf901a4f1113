import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRest, type Rest } from '../bench/rest.ts';
import { screens } from '../bench/screens.ts';
import { startWaybill, type Waybill } from './harness.ts';

let waybill: Waybill;
let rest: Rest;
beforeAll(async () => {
  waybill = await startWaybill();
  rest = createRest(waybill.sandbox.url, waybill.sandbox.tokens.first);
});
afterAll(async () => {
  await rest.close();
  await waybill[Symbol.asyncDispose]();
});

/** What the hand-written client of the benchmark makes, which is what Waybill is compared with. */
const callsByHand: Record<string, number> = {
  'order board, 100 orders': 5,
  'order page': 6,
  'customer page, 20 orders': 17,
  'shipment board, 100 shipments': 2,
  'label queue': 2,
  'quote comparison': 4,
  'inbox, 10 conversations': 11,
  'conversation, 50 messages': 3,
  'organization header': 1,
  'origin picker': 3,
};

test.each(screens)('the benchmark gets the same of the graph and of REST for its $name', async (screen) => {
  const { data, errors } = await waybill.ask<unknown, unknown>(screen.query, screen.variables);
  expect(errors).toBeUndefined();
  waybill.sandbox.requests.clear();
  expect(await screen.byRest(rest)).toEqual(data);
  expect(waybill.sandbox.requests.lines()).toHaveLength(callsByHand[screen.name] ?? 0);
});
