import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault, FaultEffect } from '../../../src/sandbox/sandbox.ts';
import { ShipOrderDocument, type ShipOrderInput } from '../../documents.generated.ts';
import { createGathering } from '../../fixtures/gathering.ts';
import { learnMerchants, otherInputMessage } from '../../fixtures/known-merchant.ts';
import { type OrderToShip, orderToShip } from '../../fixtures/order-to-ship.ts';
import { type Answer, startWaybill, type Waybill } from '../../harness.ts';

const { gather, intercept } = createGathering();
let waybill: Waybill;
/** The same service through a server that waits no longer than it takes to see that no answer comes. */
let impatient: Waybill;
beforeAll(async () => {
  // A search counts at once.
  const processingMs = 0;
  waybill = await startWaybill({}, { processingMs, intercept });
  impatient = await startWaybill({ UPSTREAM_TIMEOUT_MS: '2000' }, { sandbox: waybill.sandbox, processingMs });
  const { first, second } = waybill.sandbox.tokens;
  await learnMerchants(waybill, first, second);
  await learnMerchants(impatient, first);
});
afterEach(() => waybill.sandbox.faults.clear());
afterAll(async () => {
  await impatient[Symbol.asyncDispose]();
  await waybill[Symbol.asyncDispose]();
});

const fail = (fault: Fault) => waybill.sandbox.faults.add(fault);
const shipBy = async (server: Waybill, input: ShipOrderInput, bearer?: string) =>
  inOrder(await server.ask(ShipOrderDocument, { input }, bearer));
const ship = (input: ShipOrderInput, bearer?: string) => shipBy(waybill, input, bearer);

/** The order and the origins are read at the same time, so that either may arrive first. */
function inOrder<Data>(answer: Answer<Data>): Answer<Data> {
  const { calls } = answer;
  const isBegin = calls.slice(0, 2).some((call) => call === origins);
  return isBegin ? { ...answer, calls: [...calls.slice(0, 2).sort(), ...calls.slice(2)] } : answer;
}

const origins = 'GET /v1/origins?pageSize=1000';
const postQuote = 'POST /v1/quotes';
const postShipment = 'POST /v1/shipments';
const newestShipments = 'GET /v1/shipments?pageSize=1000';
const read = (order: string) => `GET /v1/${order}`;
const quoted = (order: string) => [read(order), origins, postQuote];
const posted = (order: string) => [...quoted(order), postShipment];
/** Shipped after it was looked for what an attempt under another key, or under none, has done. */
const looked = (order: string) => [read(order), newestShipments, origins, postQuote, postShipment];

const answered = (result: object, calls: string[]) => ({
  status: 200,
  data: { shipOrder: result },
  errors: undefined,
  calls,
});
const success = (order: string, courier = 'couriers/tres-cordilleras') => ({
  __typename: 'ShipOrderSuccess',
  order: { id: order },
  quote: { id: expect.stringMatching(/^quotes\/ca\d{4}$/) },
  offer: { courier: { id: courier } },
  shipment: { id: expect.stringMatching(/^shipments\/ca\d{4}$/) },
});
const unknown = (order: string, idempotencyKey: string | null) => ({
  __typename: 'OutcomeUnknown',
  message:
    'The response of the REST service was lost, so the write may or may not have happened. ' +
    (idempotencyKey === null
      ? `Before you ship the order again, check whether order(id: "${order}") has a shipment. ` +
        'With an idempotencyKey, Waybill itself looks for the shipment on a retry.'
      : 'Retry with the same idempotencyKey: Waybill then looks for the shipment before it creates one. ' +
        `Or check whether order(id: "${order}") has a shipment.`),
  idempotencyKey,
});
const shippedAlready = (order: string, shipment: string) => ({
  __typename: 'Conflict',
  message: `${order} is already shipped as ${shipment}. No new shipment was created. Read the field "shipment" of the order.`,
});

interface Shipments {
  order: { shipment: { id: string } | null };
  shipments: { nodes: { id: string; quote: { order: { id: string } | null } }[] };
}

/** The shipments that the sandbox holds for an order: the one that the order names, and those of its quotes. */
async function shipmentsOf(order: string) {
  const { data } = await waybill.ask<Shipments, unknown>(
    `query ($order: ID!) {
      order(id: $order) { shipment { id } }
      shipments(first: 5) { nodes { id quote { order { id } } } }
    }`,
    { order },
  );
  const ofQuotes = data.shipments.nodes.filter(({ quote }) => quote.order?.id === order).map(({ id }) => id);
  return { named: data.order.shipment?.id, ofQuotes };
}

/** The id of the shipment in an answer. @throws if it is another member of the result. */
function shipmentIdOf({ data }: Awaited<ReturnType<typeof ship>>): string {
  if (data.shipOrder.__typename === 'ShipOrderSuccess') return data.shipOrder.shipment.id;
  throw new Error(JSON.stringify(data));
}

/** Holds the sandbox to exactly one shipment for the order, the one that was answered. */
async function expectOneShipment({ data }: Awaited<ReturnType<typeof ship>>): Promise<void> {
  if (data.shipOrder.__typename !== 'ShipOrderSuccess') throw new Error(JSON.stringify(data));
  const { order, shipment } = data.shipOrder;
  expect(await shipmentsOf(order.id)).toEqual({ named: shipment.id, ofQuotes: [shipment.id] });
}

let keys = 0;
const keyed = async (): Promise<OrderToShip> => {
  keys += 1;
  return { ...(await orderToShip(waybill)), idempotencyKey: `ship ${keys}` };
};
const keyOf = ({ idempotencyKey }: ShipOrderInput) => idempotencyKey ?? null;

const withoutAnswer: FaultEffect[] = [{ kind: 'reset' }, { kind: 'applied-then-cut' }, { kind: 'hang' }];

describe.each(withoutAnswer)('shipOrder without a response to POST /v1/quotes (fault "$kind")', (fault) => {
  const ship = (input: ShipOrderInput) => shipBy(fault.kind === 'hang' ? impatient : waybill, input);
  test('requests a new quote on a retry with the same key', async () => {
    const input = await keyed();
    fail({ ...fault, method: 'POST', path: '/v1/quotes', times: 1 });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), quoted(input.order)));
    expect(await shipmentsOf(input.order)).toEqual({ named: undefined, ofQuotes: [] });

    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    await expectOneShipment(answer);
  });

  test('ships the order on a retry without a key', async () => {
    const input = await orderToShip(waybill);
    fail({ ...fault, method: 'POST', path: '/v1/quotes', times: 1 });
    expect(await ship(input)).toEqual(answered(unknown(input.order, null), quoted(input.order)));
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    await expectOneShipment(answer);
  });
});

describe.each(withoutAnswer)(
  'shipOrder without a response to POST /v1/shipments (fault "$kind")',
  (fault) => {
    const ship = (input: ShipOrderInput) => shipBy(fault.kind === 'hang' ? impatient : waybill, input);
    const isDone = fault.kind === 'applied-then-cut';

    test('finds or creates the shipment on a retry with the same key', async () => {
      const input = await keyed();
      fail({ ...fault, method: 'POST', path: '/v1/shipments', times: 1 });
      expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), posted(input.order)));
      const { named } = await shipmentsOf(input.order);

      const answer = await ship(input);
      const rest = isDone ? [`GET /v1/${named}`] : [newestShipments, postShipment];
      expect(answer).toEqual(answered(success(input.order), [read(input.order), ...rest]));
      await expectOneShipment(answer);
      expect(await ship(input)).toEqual({ ...answer, calls: [`GET /v1/${shipmentIdOf(answer)}`] });
    });

    test('returns OutcomeUnknown again for each retry without a response', async () => {
      const input = await keyed();
      fail({ kind: 'reset', method: 'POST', path: '/v1/shipments', times: 2 });
      fail({ ...fault, method: 'POST', path: '/v1/shipments', times: 1 });
      expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), posted(input.order)));
      const again = [read(input.order), newestShipments, postShipment];
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), again));
      }
      const { named } = await shipmentsOf(input.order);
      const answer = await ship(input);
      const rest = isDone ? [`GET /v1/${named}`] : again.slice(1);
      expect(answer).toEqual(answered(success(input.order), [read(input.order), ...rest]));
      await expectOneShipment(answer);
    });

    test('creates no second shipment on a retry without a key', async () => {
      const input = await orderToShip(waybill);
      fail({ ...fault, method: 'POST', path: '/v1/shipments', times: 1 });
      expect(await ship(input)).toEqual(answered(unknown(input.order, null), posted(input.order)));
      const { named = '', ofQuotes } = await shipmentsOf(input.order);
      expect(ofQuotes).toHaveLength(isDone ? 1 : 0);
      expect(await ship(input)).toEqual(
        isDone
          ? answered(shippedAlready(input.order, named), [read(input.order), origins])
          : answered(success(input.order), looked(input.order)),
      );
      expect((await shipmentsOf(input.order)).ofQuotes).toHaveLength(1);
    });
  },
);

describe('a retry of shipOrder with the same key', () => {
  test.each([
    [500, 'UPSTREAM_ERROR'],
    [502, 'UPSTREAM_UNAVAILABLE'],
  ])('searches for the shipment after a response with %i', async (status, code) => {
    const input = await keyed();
    fail({ kind: 'status', status, method: 'POST', path: '/v1/shipments', times: 1 });
    const first = await ship(input);
    expect([first.data, first.errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { shipOrder: null },
      [code],
    ]);
    expect(first.calls).toEqual(posted(input.order));
    const answer = await ship(input);
    expect(answer).toEqual(
      answered(success(input.order), [read(input.order), newestShipments, postShipment]),
    );
    await expectOneShipment(answer);
  });

  test.each<[string, FaultEffect]>([
    ['incomplete JSON', { kind: 'cut-json' }],
    [
      'a response with an order instead of a shipment',
      { kind: 'change', change: () => ({ name: 'orders/ca2496' }) },
    ],
  ])('finds the shipment after %s', async (_what, fault) => {
    const input = await keyed();
    fail({ ...fault, method: 'POST', path: '/v1/shipments', times: 1 });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), posted(input.order)));
    const { named } = await shipmentsOf(input.order);
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), [read(input.order), `GET /v1/${named}`]));
    await expectOneShipment(answer);
  });
});

describe('a retry of shipOrder after a lost response to POST /v1/shipments', () => {
  /** An order whose shipment was asked for, and either created or not, without an answer. */
  async function cut(kind: 'reset' | 'applied-then-cut'): Promise<OrderToShip> {
    const input = await keyed();
    fail({ kind, method: 'POST', path: '/v1/shipments', times: 1 });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), posted(input.order)));
    return input;
  }

  /** REST answers, once, as if the order were not shipped yet. */
  function showUnshipped({ order }: OrderToShip, times = 1): void {
    const change = ({ shipment, ...others }: Record<string, unknown>) => others;
    fail({
      kind: 'change',
      method: 'GET',
      path: `/v1/${order}`,
      times,
      change: (sent) => change(Object(sent)),
    });
  }

  test('finds the shipment in the list if the order does not refer to it yet', async () => {
    const input = await cut('applied-then-cut');
    showUnshipped(input);
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), [read(input.order), newestShipments]));
    await expectOneShipment(answer);
  });

  test('finds the shipment after a second POST if the first search missed it', async () => {
    const input = await cut('applied-then-cut');
    const { named } = await shipmentsOf(input.order);
    showUnshipped(input);
    const none = { shipments: [], nextPageToken: '' };
    fail({ kind: 'change', method: 'GET', path: '/v1/shipments', times: 1, change: () => none });
    const answer = await ship(input);
    const late = [read(input.order), `GET /v1/${named}`];
    expect(answer).toEqual(
      answered(success(input.order), [read(input.order), newestShipments, postShipment, ...late]),
    );
    await expectOneShipment(answer);
  });

  test('returns Conflict if the second POST is rejected with 409', async () => {
    const input = await cut('reset');
    const body = { error: { message: 'The order is on hold.' } };
    fail({ kind: 'status', status: 409, method: 'POST', path: '/v1/shipments', body, times: 1 });
    const again = [read(input.order), newestShipments, postShipment];
    expect(await ship(input)).toEqual(
      answered({ __typename: 'Conflict', message: 'The order is on hold.' }, [
        ...again,
        read(input.order),
        newestShipments,
      ]),
    );
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), again));
    await expectOneShipment(answer);
  });

  /** REST answers the next POST of a shipment as if the quote had expired. */
  function refuseQuote(status: number) {
    const body = { error: { message: 'The quote has expired.' } };
    fail({ kind: 'status', status, method: 'POST', path: '/v1/shipments', body, times: 1 });
    return { __typename: 'InvalidInput', message: body.error.message, fields: [] };
  }

  test.each([400, 404, 410, 422])(
    'requests a new quote after one that REST refused with %i',
    async (status) => {
      const input = await cut('reset');
      const refused = refuseQuote(status);
      const again = [read(input.order), newestShipments, postShipment];
      const search = status === 400 ? [] : [read(input.order), newestShipments];
      expect(await ship(input)).toEqual(answered(refused, [...again, ...search]));
      // The key stays with its input.
      const other = { ...input, requiresPickup: false };
      expect(await ship(other)).toEqual(answered({ __typename: 'Conflict', message: otherInputMessage }, []));
      refuseQuote(status);
      expect(await ship(input)).toEqual(answered(refused, [...looked(input.order), ...search]));
      const answer = await ship(input);
      expect(answer).toEqual(answered(success(input.order), looked(input.order)));
      await expectOneShipment(answer);
    },
  );

  test('returns the first shipment if it appears only after REST refused its quote', async () => {
    const input = await cut('applied-then-cut');
    const { named = '', ofQuotes } = await shipmentsOf(input.order);
    showUnshipped(input, 2);
    const none = { shipments: [], nextPageToken: '' };
    fail({ kind: 'change', method: 'GET', path: '/v1/shipments', times: 2, change: () => none });
    const search = [read(input.order), newestShipments];
    const refused = refuseQuote(410);
    expect(await ship(input)).toEqual(answered(refused, [...search, postShipment, ...search]));
    showUnshipped(input);
    const answer = await ship(input);
    expect(answer).toEqual(answered({ ...success(input.order), shipment: { id: named } }, search));
    expect((await shipmentsOf(input.order)).ofQuotes).toEqual(ofQuotes);
  });

  test('returns Conflict if another request has shipped the order', async () => {
    const { idempotencyKey, ...input } = await cut('reset');
    const other = await ship(input);
    expect(other).toEqual(answered(success(input.order), looked(input.order)));
    const { named = '' } = await shipmentsOf(input.order);
    expect(await ship({ ...input, idempotencyKey })).toEqual(
      answered(shippedAlready(input.order, named), [read(input.order), `GET /v1/${named}`]),
    );
    await expectOneShipment(other);
  });

  test.each([
    ['location of the recipient', { location: 'locations/narino-pasto' }, {}, 'couriers/rutandina'],
    ['cash-on-delivery amount', {}, { cashOnDeliveryRequestCents: 0 }, 'couriers/tres-cordilleras'],
  ])('requests a new quote if the %s has changed', async (_what, place, amount, courier) => {
    const input = await cut('reset');
    const change = (order: { recipient: object }) => ({
      ...order,
      ...amount,
      recipient: { ...order.recipient, ...place },
    });
    const remove = fail({
      kind: 'change',
      method: 'GET',
      path: `/v1/${input.order}`,
      change: (sent) => change(Object(sent)),
    });
    const answer = await ship(input);
    const calls = [read(input.order), newestShipments, origins, postQuote, postShipment];
    expect(answer).toEqual(answered(success(input.order, courier), calls));
    expect(waybill.sandbox.requests.entries()[3]?.body).toMatchObject({
      destination: 'locations/antioquia-medellin-laureles',
      cashOnDeliveryRequestCents: 5_000_000,
      ...('location' in place ? { destination: place.location } : amount),
    });
    remove();
    await expectOneShipment(answer);
  });

  test('returns OutcomeUnknown if the order no longer exists', async () => {
    const input = await cut('reset');
    fail({ kind: 'status', status: 404, method: 'GET', path: `/v1/${input.order}` });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), [read(input.order)]));
  });

  test('returns OutcomeUnknown if the shipment of the order is not found', async () => {
    const input = await cut('applied-then-cut');
    const remove = fail({ kind: 'status', status: 404, method: 'GET', path: /^\/v1\/shipments\// });
    const { data, calls } = await ship(input);
    expect(data).toEqual({ shipOrder: unknown(input.order, keyOf(input)) });
    expect(calls).toHaveLength(2);
    remove();
    await expectOneShipment(await ship(input));
  });

  test.each([
    ['is null', null],
    ['has no quote', { name: 'shipments/broken', status: 'LABEL_GENERATED' }],
  ])('returns OutcomeUnknown if a listed shipment %s', async (_what, row) => {
    const input = await cut('reset');
    const remove = fail({
      kind: 'change',
      method: 'GET',
      path: '/v1/shipments',
      change: () => ({ shipments: [row], nextPageToken: '' }),
    });
    const calls = [read(input.order), newestShipments];
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), calls));
    remove();
    await expectOneShipment(await ship(input));
  });

  test.each([
    [400, 'order', (order: string) => [read(order)]],
    [409, 'order', (order: string) => [read(order)]],
    [404, 'newest shipments', (order: string) => [read(order), newestShipments]],
  ])('returns OutcomeUnknown after a %i response to the read of the %s', async (status, what, calls) => {
    const input = await cut('reset');
    const path = what === 'order' ? `/v1/${input.order}` : '/v1/shipments';
    const remove = fail({ kind: 'status', status, method: 'GET', path });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), calls(input.order)));
    remove();

    const answer = await ship(input);
    expect(answer).toEqual(
      answered(success(input.order), [read(input.order), newestShipments, postShipment]),
    );
    await expectOneShipment(answer);
  });

  test('creates no shipment if the search fails', async () => {
    const input = await cut('applied-then-cut');
    const { named } = await shipmentsOf(input.order);
    const remove = fail({ kind: 'status', status: 503, method: 'GET' });
    const { data, errors, calls } = await ship(input);
    expect([data, errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { shipOrder: null },
      ['UPSTREAM_UNAVAILABLE'],
    ]);
    expect(calls).toEqual([read(input.order)]);
    remove();

    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), [read(input.order), `GET /v1/${named}`]));
    await expectOneShipment(answer);
  });
});

describe('the idempotencyKey of shipOrder', () => {
  test('ships the order once for 20 concurrent requests', async () => {
    const input = await keyed();
    gather(20);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ship(input)));
    const [first] = answers;
    expect(first?.data).toEqual({ shipOrder: success(input.order) });
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => first?.data));
    expect(waybill.sandbox.requests.lines().sort()).toEqual(posted(input.order).sort());
    if (first !== undefined) await expectOneShipment(first);
  });

  test('resumes an interrupted shipment once for 20 concurrent requests', async () => {
    const input = await keyed();
    fail({ kind: 'reset', method: 'POST', path: '/v1/shipments', times: 1 });
    expect(await ship(input)).toEqual(answered(unknown(input.order, keyOf(input)), posted(input.order)));
    gather(20);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ship(input)));
    const [first] = answers;
    expect(answers.map(({ data }) => data)).toEqual(answers.map(() => ({ shipOrder: success(input.order) })));
    expect(waybill.sandbox.requests.lines()).toEqual([read(input.order), newestShipments, postShipment]);
    if (first !== undefined) await expectOneShipment(first);
  });

  test('returns the same shipment for equivalent inputs', async () => {
    const input = await keyed();
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    const bare = { order: input.order.replace('orders/', ''), origin: 'ca4' };
    const nulls = { offer: null, maxShipmentCostCents: null };
    const whole = { offer: { prefer: 'CHEAPEST' }, requiresPickup: true } as const;
    for (const written of [bare, nulls, whole]) {
      const calls = [`GET /v1/${shipmentIdOf(answer)}`];
      expect(await ship({ ...input, ...written })).toEqual({ ...answer, calls });
    }
    await expectOneShipment(answer);
  });

  test.each<[string, Partial<ShipOrderInput>]>([
    ['order', { order: 'ca2496' }],
    ['origin', { origin: 'ca1' }],
    ['offer', { offer: { prefer: 'FASTEST' } }],
    ['cost limit', { maxShipmentCostCents: 9_000_000 }],
    ['pickup request', { requiresPickup: false }],
  ])('returns Conflict without a call if the %s changes', async (_what, fields) => {
    const input = await keyed();
    const answer = await ship(input);
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    const result = { __typename: 'Conflict', message: otherInputMessage };
    expect(await ship({ ...input, ...fields })).toEqual(answered(result, []));
    await expectOneShipment(answer);
  });

  test('returns NoOffer again without a call if only the id of the quote is selected', async () => {
    const input = { ...(await keyed()), maxShipmentCostCents: 0 };
    const first = await ship(input);
    expect(first.data).toMatchObject({ shipOrder: { __typename: 'NoOffer' } });
    expect(first.calls).toEqual(quoted(input.order));
    expect(await ship(input)).toEqual({ ...first, calls: [] });
  });

  test('returns NoOffer again with the first message and the current quote', async () => {
    const input = { ...(await keyed()), maxShipmentCostCents: 0 };
    const first = await ship(input);
    if (first.data.shipOrder.__typename !== 'NoOffer') throw new Error(JSON.stringify(first.data));
    const { message, quote } = first.data.shipOrder;
    waybill.changeAnswer(`/v1/${quote.id}`, { offers: [] });
    const document = `mutation ($input: ShipOrderInput!) {
      shipOrder(input: $input) { ... on NoOffer { message quote { id offers { status } } } }
    }`;
    const { data, calls } = await waybill.ask<unknown, unknown>(document, { input });
    expect(data).toEqual({ shipOrder: { message, quote: { id: quote.id, offers: [] } } });
    expect(calls).toEqual([`GET /v1/${quote.id}`]);
  });

  test('can be used with a new input after a response with 400', async () => {
    const input = await keyed();
    const body = { error: { message: 'Bad.' } };
    fail({ kind: 'status', status: 400, method: 'POST', path: '/v1/shipments', body, times: 1 });
    const refused = { __typename: 'InvalidInput', message: 'Bad.', fields: [] };
    expect(await ship(input)).toEqual(answered(refused, posted(input.order)));
    const answer = await ship({ ...input, requiresPickup: false });
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    await expectOneShipment(answer);
  });

  test('can be used by two merchants independently', async () => {
    const { second } = waybill.sandbox.tokens;
    const input = await keyed();
    const other = { ...(await orderToShip(waybill, {}, second)), idempotencyKey: keyOf(input) };
    expect(await ship(input)).toEqual(answered(success(input.order), posted(input.order)));
    const { data, calls } = await ship({ ...other, origin: 'origins/st1' }, second);
    expect(data).toMatchObject({ shipOrder: { __typename: 'ShipOrderSuccess', order: { id: other.order } } });
    expect(calls).toEqual(posted(other.order));
  });

  test('returns the current order and shipment on a retry', async () => {
    const input = await keyed();
    const answer = await ship(input);
    waybill.sandbox.clock.advance(60_000);
    const document = `mutation ($input: ShipOrderInput!) {
      shipOrder(input: $input) { ... on ShipOrderSuccess { order { status } shipment { id } } }
    }`;
    const { data, calls } = await waybill.ask<unknown, unknown>(document, { input });
    expect(answer).toEqual(answered(success(input.order), posted(input.order)));
    expect(data).toEqual({
      shipOrder: {
        order: { status: 'READY' },
        shipment: expect.objectContaining({ id: expect.any(String) }),
      },
    });
    expect(calls).toEqual([`GET /v1/${shipmentIdOf(answer)}`, read(input.order)]);
  });

  test('returns the result on a retry after the client has disconnected', async () => {
    const input = await keyed();
    fail({ kind: 'delay', delayMs: 60, method: 'POST', path: '/v1/quotes' });
    const client = new AbortController();
    const left = waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
      },
      body: JSON.stringify({
        query: 'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }',
        variables: { input },
      }),
      signal: client.signal,
    });
    waybill.sandbox.requests.clear();
    await expect.poll(() => waybill.sandbox.requests.lines(), { interval: 2 }).toContain(postQuote);
    client.abort();
    await Promise.resolve(left).catch(() => {});
    await expect.poll(() => waybill.sandbox.requests.lines(), { interval: 2 }).toContain(postShipment);
    const answer = await ship(input);
    expect(answer.data).toEqual({ shipOrder: success(input.order) });
    await expectOneShipment(answer);
  });
});
