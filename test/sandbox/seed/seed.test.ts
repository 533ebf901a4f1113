import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { cashOnDeliveryCost, rateOffers } from '../../../src/sandbox/couriers/rates.ts';
import * as schemas from '../../../src/sandbox/interface/schemas.ts';
import { toCustomerBehavior } from '../../../src/sandbox/seed/customers/customer-behavior.ts';
import { toOrderStatus } from '../../../src/sandbox/seed/orders/status-generator.ts';
import { createSeed, type MerchantSeed } from '../../../src/sandbox/seed/seed.ts';

const now = new Date('2026-11-10T20:15:00.000Z');
const seed = createSeed(now);
const [cafe, textil] = seed.merchants as [MerchantSeed, MerchantSeed]; // Asserted by the first test.
const locations = new Map(seed.locations.map((location) => [location.name, location]));

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function byName<Item extends { name: string }>(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [item.name, item]));
}

function timesFall(items: readonly { createTime: string }[]): boolean {
  return items.every(({ createTime }, index) => createTime <= (items[index - 1]?.createTime ?? createTime));
}

test('the seed has two merchants with the documented record counts', () => {
  expect(seed.merchants.map(({ token, organization }) => [token, organization.name])).toEqual([
    ['sandbox-cafe-andino', 'organization/cafe-andino'],
    ['sandbox-sur-textil', 'organization/sur-textil'],
  ]);
  expect(
    seed.merchants.map(({ orders, origins, channels }) => [orders.length, origins.length, channels.length]),
  ).toEqual([
    [2500, 4, 3],
    [300, 2, 2],
  ]);
  expect(cafe.shipments.length / cafe.orders.length).toBeCloseTo(0.8, 1);
  expect(cafe.organization.balanceCents).toBeLessThan(0);
  expect(textil.organization.balanceCents).toBeGreaterThan(0);
});

test('two seeds for the same time are identical', () => {
  expect(hash(createSeed(now))).toBe(hash(seed));
});

test('seeds for different times differ only in their times', () => {
  const timeless = (value: unknown) => JSON.stringify(value).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '""');
  for (const other of ['2026-11-10T05:00:00.000Z', '2027-03-01T09:41:07.123Z'])
    expect(hash(timeless(createSeed(new Date(other))))).toBe(hash(timeless(seed)));
});

test('the seed contains no time in the future, at any hour of the day', () => {
  for (const hour of ['04:59', '05:00', '05:01', '12:00', '23:59']) {
    const at = `2026-11-10T${hour}:00.000Z`;
    const times = JSON.stringify(createSeed(new Date(at))).match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? [];
    expect(times.length).toBeGreaterThan(10_000);
    expect(times.filter((time) => time > at)).toEqual([]);
  }
});

test('each record of the seed matches its REST schema', () => {
  const faults = (schema: TSchema, items: readonly unknown[]) => {
    const validator = Compile(schema);
    return items.filter((item) => !validator.Check(item));
  };
  expect(faults(schemas.Location, seed.locations)).toEqual([]);
  for (const { organization, origins, orders, quotes, shipments, channels } of seed.merchants) {
    expect(faults(schemas.Organization, [organization])).toEqual([]);
    expect(faults(schemas.Origin, origins)).toEqual([]);
    expect(faults(schemas.Order, orders)).toEqual([]);
    expect(faults(schemas.Quote, quotes)).toEqual([]);
    expect(faults(schemas.Shipment, shipments)).toEqual([]);
    expect(
      faults(
        schemas.Channel,
        channels.map(({ channel }) => channel),
      ),
    ).toEqual([]);
    expect(
      faults(
        schemas.Template,
        channels.flatMap(({ templates }) => templates),
      ),
    ).toEqual([]);
    expect(faults(schemas.Message, messagesOf(channels))).toEqual([]);
  }
});

test('every value of every enum occurs in the seed', () => {
  const orders = seed.merchants.flatMap((merchant) => merchant.orders);
  const messages = messagesOf(seed.merchants.flatMap(({ channels }) => channels));
  const all = (...values: readonly unknown[]) => new Set(values);
  const statuses = schemas.ShipmentStatus.enum;
  expect(new Set(orders.map(({ status }) => status))).toEqual(all(...schemas.OrderStatus.enum));
  expect(new Set(cafe.shipments.map(({ status }) => status))).toEqual(all(...statuses));
  expect(new Set(textil.shipments.map(({ status }) => status))).toEqual(all(...statuses));
  expect(new Set(orders.map(({ customerReliability }) => customerReliability))).toEqual(
    all(...schemas.Reliability.enum),
  );
  expect(new Set(orders.map(({ recipient }) => recipient.documentType))).toEqual(
    all('CC', 'CE', 'NI', 'TI', null),
  );
  expect(new Set(orders.map(({ fulfiller }) => fulfiller))).toEqual(all('OPERATOR', 'PARTNER'));
  expect(new Set(messages.map(({ status }) => status))).toEqual(all(...schemas.MessageStatus.enum));
  expect(new Set(messages.map(({ contentType }) => contentType))).toEqual(all('TEXT', 'TEMPLATE'));
});

describe.each(seed.merchants.map((merchant) => [merchant.token, merchant] as const))(
  'the seed of %s',
  (_token, merchant) => {
    const { orders, quotes, shipments, origins } = merchant;
    const orderNamed = byName(orders);
    const quoteNamed = byName(quotes);
    const shipmentNamed = byName(shipments);
    const originNamed = byName(origins);

    test('references resolve in both directions', () => {
      expect(orderNamed.size + quoteNamed.size + shipmentNamed.size).toBe(
        orders.length + quotes.length + shipments.length,
      );
      for (const { recipient } of orders) expect(locations.has(recipient.location)).toBe(true);
      for (const origin of origins)
        expect(origin.address).toMatchObject(locations.get(origin.location)?.address ?? {});
      for (const quote of quotes) {
        expect(orderNamed.has(quote.order ?? '')).toBe(true);
        expect(locations.has(quote.origin) && locations.has(quote.destination)).toBe(true);
      }
      const named = orders.filter(({ shipment }) => shipment !== undefined);
      expect(new Set(named.map(({ shipment }) => shipment))).toEqual(new Set(shipmentNamed.keys()));
      for (const order of named) {
        const quote = quoteNamed.get(shipmentNamed.get(order.shipment ?? '')?.quote ?? '');
        expect(quote?.order).toBe(order.name);
      }
    });

    test('shipments have the cost of their offer and the origin of their quote', () => {
      for (const shipment of shipments) {
        const quote = quoteNamed.get(shipment.quote);
        const offer = quote?.offers.find(({ courier }) => courier === shipment.courier);
        const order = orderNamed.get(quote?.order ?? '');
        const cashOnDeliveryCostCents = cashOnDeliveryCost(order?.cashOnDeliveryRequestCents ?? -1);
        expect(offer).toMatchObject({ status: 'SUCCESS', shipmentCostCents: shipment.shipmentCostCents });
        expect(shipment.cashOnDeliveryCostCents).toBe(cashOnDeliveryCostCents);
        expect(shipment.totalCostCents).toBe(shipment.shipmentCostCents + cashOnDeliveryCostCents);
        expect(originNamed.get(shipment.origin)?.location).toBe(quote?.origin);
        expect(quote?.destination).toBe(order?.recipient.location);
        expect({ ...shipment.recipient, location: order?.recipient.location }).toEqual(order?.recipient);
      }
    });

    test('quotes have the four to seven offers that rateOffers calculates', () => {
      for (const quote of quotes) {
        const [origin, destination] = [locations.get(quote.origin), locations.get(quote.destination)];
        if (!origin || !destination) throw new Error(`${quote.name} names no place`);
        const { cashOnDeliveryRequestCents = 0 } = quote;
        expect(
          rateOffers({ origin, destination, package: quote.package, cashOnDeliveryRequestCents }),
        ).toEqual(quote.offers);
        expect(quote.offers.length).toBeGreaterThanOrEqual(4);
        expect(quote.offers.length).toBeLessThanOrEqual(7);
      }
    });

    test('orders, quotes and shipments are sorted newest first', () => {
      expect([orders, quotes, shipments].map(timesFall)).toEqual([true, true, true]);
      for (const shipment of shipments) {
        const quote = quoteNamed.get(shipment.quote);
        const order = orderNamed.get(quote?.order ?? '');
        if (!quote || !order) throw new Error(`${shipment.name} has no order`);
        expect(order.createTime <= quote.createTime && quote.createTime <= shipment.createTime).toBe(true);
        expect(shipment.createTime <= shipment.updateTime).toBe(true);
        expect(Date.parse(shipment.createTime) - Date.parse(order.createTime)).toBeLessThan(24 * 3_600_000);
      }
      for (const order of orders) expect(order.createTime <= order.updateTime).toBe(true);
    });

    test('the status of an order fits its shipment, or its age if it has no shipment', () => {
      for (const order of orders) {
        const shipment = shipmentNamed.get(order.shipment ?? '');
        const days = (now.getTime() - Date.parse(order.createTime)) / 86_400_000;
        if (shipment) expect(order.status).toBe(toOrderStatus(shipment.status));
        else if (days < 6) expect(['NEW', 'CONFIRMED', 'READY', 'CANCELLED']).toContain(order.status);
        else if (days > 8) expect(['DELIVERED', 'RETURN', 'CANCELLED']).toContain(order.status);
      }
      for (const { status, label } of shipments)
        expect(label === undefined).toBe(status === 'GENERATING_LABEL');
      expect(shipments.some(({ label }) => label === undefined)).toBe(true);
      const quoted = new Set(quotes.map(({ order }) => order));
      expect(orders.some(({ name, shipment }) => shipment === undefined && quoted.has(name))).toBe(true);
      expect(orders.some(({ name }) => !quoted.has(name))).toBe(true);
    });

    test("the history of a customer matches the customer's shipments", () => {
      for (const [, theirs] of Map.groupBy(orders, ({ recipient }) => recipient.phoneNumber)) {
        const statuses = theirs.flatMap(({ shipment }) => shipmentNamed.get(shipment ?? '')?.status ?? []);
        const behavior = toCustomerBehavior(statuses);
        for (const order of theirs) {
          expect(order.customerBehavior).toEqual(behavior);
          expect(order.customerReliability).toBe(behavior.reliability);
        }
      }
    });

    test('template messages fill the parameters of their template', () => {
      const lost = merchant.channels.flatMap(({ channel, templates, conversations }) => {
        expect(new Set(templates.map(({ name, language }) => `${name} ${language}`)).size).toBe(
          templates.length,
        );
        for (const { header, body } of templates)
          for (const { text = '', parameters = [] } of [header ?? {}, body])
            expect(new Set(parameters.map(({ name }) => `{{${name}}}`))).toEqual(
              new Set(text.match(/\{\{\w+\}\}/g) ?? []),
            );
        return conversations.flatMap(({ name, messages }) => {
          expect(name.startsWith(`${channel.name}/conversations/`)).toBe(true);
          expect(timesFall(messages)).toBe(true);
          return messages.filter((message) => {
            expect(message.name.startsWith(`${name}/messages/`)).toBe(true);
            const { template, text } = message;
            expect([template === undefined, text === undefined]).toEqual(
              message.contentType === 'TEXT' ? [true, false] : [false, true],
            );
            if (!template) return false;
            const known = templates.find(
              (other) => other.name === template.name && other.language === template.language,
            );
            if (!known) return true;
            const names = (part = known.header) =>
              (part?.parameters ?? []).map((parameter) => parameter.name);
            expect(Object.keys(template.headerParameters)).toEqual(names());
            expect(Object.keys(template.bodyParameters)).toEqual(names(known.body));
            return false;
          });
        });
      });
      expect(new Set(lost.map(({ template }) => template?.name))).toEqual(new Set(['feria_del_hogar']));
      expect(lost.length).toBeLessThanOrEqual(2);
    });

    test('referenceId, referenceGid and referenceUrl are unique if present', () => {
      for (const field of ['referenceId', 'referenceGid', 'referenceUrl'] as const) {
        const values = orders.flatMap((order) => order[field] ?? []);
        expect(new Set(values).size).toBe(values.length);
        expect(values.length).toBeGreaterThan(orders.length / 2);
        expect(values.length).toBeLessThan(orders.length);
      }
    });
  },
);

test('the two merchants share no identifier, customer or phone number', () => {
  const identities = ({ orders, quotes, shipments, origins, channels }: MerchantSeed) => [
    ...[...orders, ...quotes, ...shipments, ...origins].map(({ name }) => name),
    ...channels.map(({ channel }) => channel.name),
    ...channels.map(({ channel }) => channel.chatApp.phoneNumber),
    ...orders.map(({ recipient }) => recipient.phoneNumber),
    ...orders.flatMap(({ referenceId }) => referenceId ?? []),
    ...channels.flatMap(({ conversations }) => conversations.map(({ phone }) => phone)),
  ];
  const others = new Set(identities(textil));
  expect(identities(cafe).filter((identity) => others.has(identity))).toEqual([]);
});

test('orders with the same phone number can differ in last name and location', () => {
  const byPhone = Map.groupBy(cafe.orders, ({ recipient }) => recipient.phoneNumber);
  expect(byPhone.size).toBeGreaterThan(550);
  expect(byPhone.size).toBeLessThan(680);
  expect(byPhone.get('+573104567890')?.length).toBeGreaterThan(50);
  const spellings = [...byPhone.values()].map(
    (orders) => new Set(orders.map(({ recipient }) => recipient.lastName)).size,
  );
  const homes = [...byPhone.values()].map(
    (orders) => new Set(orders.map(({ recipient }) => recipient.location)).size,
  );
  expect(spellings.filter((count) => count > 1).length).toBeGreaterThan(20);
  expect(homes.filter((count) => count > 1).length).toBeGreaterThan(20);
  for (const phone of byPhone.keys()) expect(phone).toMatch(/^\+573\d{9}$/);
});

test('amounts and texts of the seed reach the limits of their ranges', () => {
  const prices = cafe.orders.map(({ sellingPriceCents }) => sellingPriceCents);
  expect(Math.max(...prices)).toBe(9_007_199_254_740_991);
  expect(prices.filter((price) => price > 2 ** 31).length).toBeGreaterThan(5);
  expect(prices.filter((price) => price > 20_000_000_000).length).toBeGreaterThan(1);
  const collected = cafe.orders.filter(({ cashOnDeliveryRequestCents }) => cashOnDeliveryRequestCents > 0);
  expect(collected.length / cafe.orders.length).toBeGreaterThan(0.4);
  expect(collected.length / cafe.orders.length).toBeLessThan(0.7);
  const notes = cafe.orders.map((order) => order.notes);
  const contents = cafe.orders.map((order) => order.contentDescription.length);
  expect(Math.max(...notes.map((note) => note.length))).toBe(2048);
  expect([Math.min(...contents), Math.max(...contents)]).toEqual([3, 128]);
  expect(notes.some((note) => /\p{Script=Arabic}/u.test(note))).toBe(true);
  expect(notes.some((note) => /\p{Emoji_Presentation}/u.test(note))).toBe(true);
  expect(notes.some((note) => note !== note.normalize('NFC'))).toBe(true);
});

test('channels, templates and conversations have the expected counts', () => {
  expect(cafe.channels.map(({ channel, templates }) => [channel.active, templates.length])).toEqual([
    [true, 12],
    [true, 8],
    [false, 6],
  ]);
  const conversations = cafe.channels.flatMap((channel) => channel.conversations);
  const lengths = conversations.map(({ messages }) => messages.length);
  expect(conversations.length).toBe(60);
  expect(lengths.filter((length) => length === 0)).toEqual([0]);
  expect(lengths.filter((length) => length >= 150)).toEqual([150]);
  const templates = cafe.channels.flatMap((channel) => channel.templates);
  expect(templates.some(({ header, footer, buttons }) => !header && !footer && buttons.length === 0)).toBe(
    true,
  );
  const languages = templates
    .filter(({ name }) => name === 'pedido_confirmado')
    .map(({ language }) => language);
  expect(new Set(languages)).toEqual(new Set(['es', 'en']));
});

test('the seed contains the examples of the documentation', () => {
  const order = cafe.orders.find(({ name }) => name === 'orders/ca2481');
  const shipment = cafe.shipments.find(({ name }) => name === order?.shipment);
  const quote = cafe.quotes.find(({ name }) => name === shipment?.quote);
  expect(order).toMatchObject({
    status: 'IN_PROGRESS',
    recipient: { lastName: 'Ñáñez Peñalosa', phoneNumber: '+573104567890' },
    referenceId: '5320321908408',
    cashOnDeliveryRequestCents: 11_670_000,
  });
  expect(shipment).toMatchObject({
    name: 'shipments/ca2036',
    status: 'OUT_FOR_DELIVERY',
    label: 'labels/ca2036',
  });
  expect(quote?.name).toBe('quotes/ca2139');
  expect(new Set(quote?.offers.map(({ status }) => status))).toEqual(
    new Set(['SUCCESS', 'CASH_ON_DELIVERY_NOT_AVAILABLE']),
  );
  expect(cafe.orders.find(({ name }) => name === 'orders/ca2496')?.shipment).toBeUndefined();
  const conversation = cafe.channels[0]?.conversations[0];
  expect(conversation).toMatchObject({ name: 'channels/ca1/conversations/ca60', phone: '+573104567890' });
  expect(new Set(conversation?.messages.map(({ contentType }) => contentType))).toEqual(
    new Set(['TEXT', 'TEMPLATE']),
  );
});

function messagesOf(channels: MerchantSeed['channels']) {
  return channels.flatMap(({ conversations }) => conversations.flatMap(({ messages }) => messages));
}
