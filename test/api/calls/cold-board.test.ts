import { expect, test } from 'vitest';
import { startWaybill } from '../../harness.ts';

const board = `{ orders(first: 100) { nodes { recipient { location { locality } }
  shipment { origin { location { locality } } } } } }`;

test('the first order board reads the location list once for recipients and origins', async () => {
  await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' });
  const { sandbox } = waybill;
  // So that the shipments and their origins are there before the list is.
  sandbox.faults.add({ path: '/v1/locations', kind: 'delay', delayMs: 300 });
  const first = await waybill.ask(board);
  expect(first.errors).toBeUndefined();
  expect(first.calls.filter((call) => call.startsWith('GET /v1/locations'))).toEqual([
    'GET /v1/locations?pageSize=1000',
    expect.stringMatching(/^GET \/v1\/locations\?pageSize=1000&pageToken=[\w-]+$/),
  ]);
});
