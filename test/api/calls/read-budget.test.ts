import { afterAll, expect, test } from 'vitest';
import { order, post } from '../../fixtures/order-to-create.ts';
import { startWaybill } from '../../harness.ts';

// One get for each id, so that it is known which calls there are.
const waybill = await startWaybill({
  UPSTREAM_READS_PER_OPERATION: '5',
  UPSTREAM_LISTS_FOR_BATCHES: 'no',
});
const { ask } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

const namesOf = (count: number, first = 2481) =>
  Array.from({ length: count }, (_, index) => `orders/ca${first + index}`);
const within = namesOf(5);
const beyond = namesOf(3, 2486);

const exceeded = (call: string, ...path: (string | number)[]) => ({
  message: `${call} was not sent: an operation may make at most 5 REST reads. Request less data per operation.`,
  locations: expect.any(Array),
  path,
  extensions: { code: 'UPSTREAM_BUDGET_EXCEEDED', retryable: false },
});

const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Order { status } } }';

test('only fields beyond the read budget are null with an error', async () => {
  const answer = await ask(nodes, { ids: [...within, ...beyond] });
  expect(answer).toEqual({
    status: 200,
    data: {
      nodes: [
        ...within.map((id) => ({ id, status: expect.stringMatching(/^[A-Z_]+$/) })),
        ...beyond.map(() => null),
      ],
    },
    errors: beyond.map((name, index) => exceeded(`GET /v1/${name}`, 'nodes', 5 + index)),
    calls: expect.any(Array),
  });
  expect(answer.calls.sort()).toEqual(within.map((name) => `GET /v1/${name}`));
});

test('each operation has the full read budget', async () => {
  for (const ids of [within, namesOf(5, 2486)]) {
    const { errors, calls } = await ask(nodes, { ids });
    expect({ errors, calls: calls.sort() }).toEqual({
      errors: undefined,
      calls: ids.map((name) => `GET /v1/${name}`),
    });
  }
});

test('a record that is selected many times costs one read', async () => {
  const { errors, calls } = await ask(nodes, { ids: Array.from({ length: 8 }, () => within[0]) });
  expect({ errors, calls }).toEqual({ errors: undefined, calls: [`GET /v1/${within[0]}`] });
});

test('writes do not count against the read budget', async () => {
  const inputs = Array.from({ length: 7 }, (_, index) => ({ id: 'orders/ca2496', notes: `Nota ${index}` }));
  const update = 'mutation ($inputs: [UpdateOrderInput!]!) { updateOrders(inputs: $inputs) { __typename } }';
  expect(await ask(update, { inputs })).toEqual({
    status: 200,
    data: { updateOrders: inputs.map(() => ({ __typename: 'UpdateOrderSuccess' })) },
    errors: undefined,
    calls: inputs.map(() => 'PATCH /v1/orders/ca2496'),
  });
});

test('a write succeeds even if the read budget is exhausted', async () => {
  const record = (name: string) =>
    `${name}: createOrder(input: $input) {
      ... on CreateOrderSuccess { order { notes recipient { orders(first: 1) { nodes { id } } } } }
    }`;
  const { data, errors, calls } = await ask(
    `mutation ($input: CreateOrderInput!) { ${['a', 'b', 'c', 'd', 'e', 'f'].map(record).join('\n')} }`,
    { input: order },
  );
  const list = 'GET /v1/orders?pageSize=1&search=+573001112233';
  expect({ data, errors, calls }).toMatchObject({
    data: { f: { order: { notes: order.notes, recipient: { orders: null } } } },
    errors: [exceeded('GET /v1/orders', 'f', 'order', 'recipient', 'orders')],
    calls: [...Array.from({ length: 5 }, () => [post, list]).flat(), post],
  });
});
