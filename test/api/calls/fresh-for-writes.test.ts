import { describe, expect, test } from 'vitest';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startWaybill } from '../../harness.ts';

const kept = { REFERENCE_DATA_MS: '60000' };
const templates = 'GET /v1/channels/ca1/templates?pageSize=100';
const origins = 'GET /v1/origins?pageSize=1000';
const conversation = 'channels/ca1/conversations/ca57';
const post = `POST /v1/${conversation}/messages`;

const send = `mutation ($input: SendMessageInput!) {
  sendMessage(input: $input) { __typename ... on InvalidInput { fields { path } } }
}`;
const thanks = {
  input: { conversation, content: { template: { name: 'gracias_por_tu_compra', language: 'es' } } },
};
const unknown = { input: { conversation, content: { template: { name: 'atlantis', language: 'es' } } } };
const readTemplates = '{ channel(id: "ca1") { template(name: "pedido_confirmado") { name } } }';

describe('the template of sendMessage', () => {
  test('is found in the cached templates without a call', async () => {
    await using waybill = await startWaybill(kept);
    await waybill.ask(readTemplates);
    expect(await waybill.ask(send, thanks)).toMatchObject({
      data: { sendMessage: { __typename: 'SendMessageSuccess' } },
      calls: [post],
    });
  });

  test('is rejected only after a fresh read of the templates', async () => {
    await using waybill = await startWaybill(kept);
    const clear = waybill.sandbox.faults.add({
      path: '/v1/channels/ca1/templates',
      kind: 'change',
      change: () => ({ templates: [], nextPageToken: '' }),
    });
    await waybill.ask(readTemplates);
    clear();
    expect(await waybill.ask(send, thanks)).toMatchObject({
      data: { sendMessage: { __typename: 'SendMessageSuccess' } },
      calls: [templates, post],
    });
    expect(await waybill.ask(send, unknown)).toMatchObject({
      data: { sendMessage: { fields: [{ path: 'content.template.name' }] } },
      calls: [templates],
    });
  });
});

test.each([
  ['if the cached list lacks the origin', true],
  // The origin may have moved.
  ['even if the cached list contains the origin', false],
])('shipOrder reads the origins again %s', async (_what, isMissing) => {
  await using waybill = await startWaybill(kept);
  const clear = waybill.sandbox.faults.add({
    path: '/v1/origins',
    kind: 'change',
    change: (body) => (isMissing ? { origins: [], nextPageToken: '' } : body),
  });
  const cached = isMissing ? null : { address: { organization: expect.any(String) } };
  const { data: first } = await waybill.ask('{ origin(id: "ca4") { address { organization } } }');
  expect(first).toEqual({ origin: cached });
  clear();
  const input = await orderToShip(waybill);
  const { data, calls } = await waybill.ask(
    'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }',
    { input },
  );
  expect(data).toEqual({ shipOrder: { __typename: 'ShipOrderSuccess' } });
  expect(calls[0]).toBe(organizationCall);
  expect(calls.slice(1, 3).sort()).toEqual([`GET /v1/${input.order}`, origins]);
});
