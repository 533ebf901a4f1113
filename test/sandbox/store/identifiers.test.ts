import { afterEach, expect, test } from 'vitest';
import { type Client, newOrder, newQuote, openSandbox } from '../client.ts';

let client: Client;
afterEach(() => client.close());

const inPath = (name: string) => name.split('/').map(encodeURIComponent).join('/');
const read = async (name: string) => (await client.get(`/v1/${inPath(name)}`)).body;
const namesIn = (rows: { name: string }[]) => rows.map(({ name }) => name);

const { location: _, ...recipient } = newOrder.recipient;
const ship = ({ name, offers }: { name: string; offers: { courier: string }[] }, origin: string) =>
  client.post('/v1/shipments', {
    quote: name,
    courier: offers[0]?.courier,
    origin,
    recipient,
    requiresPickup: true,
  });

test('identifiers "mixed", set as fault, changes only new records', async () => {
  client = await openSandbox();
  client.sandbox.faults.add({ kind: 'quirks', quirks: { identifiers: 'mixed' } });
  const orders: string[] = [];
  for (let count = 0; count < 6; count += 1)
    orders.push((await client.post('/v1/orders', newOrder)).body.name);
  expect(orders).toEqual([
    'orders/50%?#ca2501',
    'orders/_V1Stca2502',
    'orders/-abcca2503',
    'orders/CO:05001:ca2504',
    'orders/a+b=ca2505',
    'orders/café-ca2506',
  ]);
  for (const name of orders) expect((await read(name)).name).toBe(name);
  const quote = (await client.post('/v1/quotes', { ...newQuote, order: 'orders/50%?#ca2501' })).body;
  expect([quote.name, quote.order]).toEqual(['quotes/_V1Stca2154', 'orders/50%?#ca2501']);
  const shipment = (await ship(quote, 'origins/ca4')).body;
  expect(shipment).toMatchObject({
    name: 'shipments/CO:05001:ca2048',
    quote: 'quotes/_V1Stca2154',
    courier: 'couriers/a+b=rutandina',
    origin: 'origins/ca4',
  });
  const update = { order: { notes: 'Sin afán' }, updateMask: ['notes'] };
  expect((await client.patch('/v1/orders/50%25%3F%23ca2501', update)).body).toMatchObject({
    name: 'orders/50%?#ca2501',
    notes: 'Sin afán',
    shipment: 'shipments/CO:05001:ca2048',
  });
  const message = { recipient: { phone: '+57 300 999 0042', name: 'Zoé' }, text: 'Hola' };
  expect((await client.post('/v1/channels/ca1/messages', message)).body.name).toBe(
    'channels/ca1/conversations/-abcca61/messages/-abcm001',
  );
  client.sandbox.faults.clear();
  expect((await client.post('/v1/orders', newOrder)).body.name).toBe('orders/ca2507');
});

test('identifiers "mixed", set as option, changes the seed and all references', async () => {
  client = await openSandbox({ quirks: { identifiers: 'mixed' } });
  const order = await read('orders/a+b=ca2499');
  expect([order.shipment, order.recipient.location]).toEqual([
    'shipments/-abcca2047',
    'locations/café-bogota-dc-los-martires',
  ]);
  const shipment = await read('shipments/50%?#ca2045');
  expect(shipment).toMatchObject({
    quote: 'quotes/CO:05001:ca2150',
    courier: 'couriers/CO:05001:colibri-urbano',
    origin: 'origins/-abcca1',
    label: 'labels/50%?#ca2045',
  });
  const quote = await read(shipment.quote);
  expect(quote.offers.map(({ courier }: { courier: string }) => courier)).toContain(shipment.courier);
  expect((await read(quote.order)).shipment).toBe(shipment.name);
  const query = encodeURIComponent(order.recipient.location);
  expect(namesIn((await client.get(`/v1/locations?query=${query}`)).body.locations)).toEqual([
    order.recipient.location,
  ]);
  expect(namesIn((await client.get('/v1/channels')).body.channels)).toEqual([
    'channels/-abcca1',
    'channels/CO:05001:ca2',
    'channels/a+b=ca3',
  ]);
  expect((await read('channels/-abcca1/templates')).templates[0].name).toBe('pedido_confirmado');
  const conversation = 'channels/-abcca1/conversations/50%?#ca5/messages';
  expect((await read(conversation)).messages[0].name).toBe(`${conversation}/50%?#m017`);
  expect((await client.post(`/v1/${inPath(conversation)}`, { text: 'Hola' })).body.name).toBe(
    `${conversation}/_V1Stm018`,
  );
});

test('an order can be quoted and shipped with mixed identifiers', async () => {
  client = await openSandbox({ quirks: { identifiers: 'mixed' } });
  const location = 'locations/_V1Stantioquia-medellin';
  const recipientThere = { ...newOrder.recipient, location };
  const order = (await client.post('/v1/orders', { ...newOrder, recipient: recipientThere })).body;
  const { body: quote } = await client.post('/v1/quotes', {
    ...newQuote,
    origin: 'locations/CO:05001:huila-pitalito',
    destination: location,
    order: order.name,
  });
  expect((await ship(quote, 'origins/café-ca4')).body).toMatchObject({
    name: 'shipments/CO:05001:ca2048',
    quote: 'quotes/_V1Stca2154',
    courier: 'couriers/a+b=rutandina',
    origin: 'origins/café-ca4',
  });
  expect(await read('orders/50%?#ca2501')).toEqual({
    ...order,
    status: 'READY',
    shipment: 'shipments/CO:05001:ca2048',
  });
});

test('label URLs work with mixed identifiers', async () => {
  client = await openSandbox({ quirks: { identifiers: 'mixed' } });
  const names = [
    'shipments/_V1Stca0006',
    'shipments/-abcca0001',
    'shipments/CO:05001:ca0002',
    'shipments/a+b=ca0003',
    'shipments/café-ca0004',
    'shipments/50%?#ca0005',
  ];
  for (const name of names) {
    const { labelUrl } = await read(name);
    expect(labelUrl).toContain(`/signed/labels/${inPath(name).slice('shipments/'.length)}.pdf?expires=`);
    const signed = await fetch(labelUrl);
    const withBearer = await fetch(`${client.sandbox.url}/v1/${inPath(name)}/label`, {
      headers: { authorization: `Bearer ${client.sandbox.tokens.first}` },
    });
    expect([signed.status, withBearer.status]).toEqual([200, 200]);
    expect(await signed.bytes()).toEqual(await withBearer.bytes());
  }
  expect(client.sandbox.requests.lines().at(-1)).toBe('GET /v1/shipments/50%25%3F%23ca0005/label');
});
