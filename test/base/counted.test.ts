import { expect, test } from 'vitest';
import { counted } from '../../src/base/counted.ts';
import { ReadBudgetExceededError } from '../../src/rest/errors.ts';
import { trustedDocumentTabs } from '../../src/server/routes/graphiql/tabs.ts';
import { explainNoOffer } from '../../src/writes/offer-selection.ts';

test.each([
  [0, '0 calls'],
  [1, '1 call'],
  [2, '2 calls'],
  [1_000, '1000 calls'],
])('the noun is singular only after 1: %d', (count, text) => {
  expect(counted(count, 'call')).toBe(text);
});

test.each([
  [1, 'at most 1 REST read.'],
  [2, 'at most 2 REST reads.'],
])('the message about a read budget has a singular noun only for 1: %d', (maxReads, text) => {
  expect(new ReadBudgetExceededError({ method: 'GET', path: '/v1/orders/7' }, maxReads).message).toContain(
    text,
  );
});

test.each([
  [1, 2, 'costs more than 1 cent. Available: couriers/a for 2 cents.'],
  [0, 1, 'costs more than 0 cents. Available: couriers/a for 1 cent.'],
])('the message about a missing offer has "cent" only for 1: %d, %d', (maxShipmentCostCents, cost, text) => {
  const offers = [{ courier: 'couriers/a', status: 'SUCCESS', shipmentCostCents: cost }];
  expect(explainNoOffer(offers, { offer: {}, maxShipmentCostCents }).message).toContain(text);
});

test.each([
  [1, '# This server runs only the 1 document of'],
  [3, '# This server runs only the 3 documents of'],
])('the first tab of GraphiQL has a singular noun only for 1 document: %d', (count, line) => {
  const documents = Array.from({ length: count }, (_, at): [string, string] => [
    `id-${at}`,
    `query Q${at} { __typename }`,
  ]);
  expect(trustedDocumentTabs(new Map(documents))[0]?.split('\n', 1)).toEqual([line]);
});
