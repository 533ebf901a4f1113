import type { Dispatcher } from 'undici';
import { look, outcomeOf, type Watch } from './answer.ts';
import { tenants, tokenOf } from './upstream.ts';

/** A request as a frontend sends it. */
interface GoodRequest {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body: string | null;
}

const graphql = (name: string, query: string, variables: object): GoodRequest => ({
  name,
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
});

const orderBoard = `query OrderBoard { orders(first: 20) { nodes {
  id status recipient { fullName location { administrativeArea locality } }
  shipment { id status totalCost { cents } label { url } courier { code } origin { id address { locality } } }
} } }`;

const orderPage = `query OrderPage($id: ID!) { order(id: $id) {
  id createTime status contentDescription notes cashOnDelivery { cents }
  recipient { fullName phoneNumber address { addressLines } location { administrativeArea locality } }
  shipment { id status totalCost { formatted } courier { code } quote { id offers { courier { code } status } } }
} }`;

const conversation = `query Conversation($id: ID!) { conversation(id: $id) {
  id messages(first: 20) { nodes { id createTime status } }
} }`;

const shipmentBoard = `query ShipmentBoard { shipments(first: 20) { nodes {
  id status recipient { fullName address { locality } } origin { id }
} } }`;

const createOrder = `mutation CreateOrder($input: CreateOrderInput!) { createOrder(input: $input) {
  __typename ... on CreateOrderSuccess { order { id notes } } ... on UserError { message }
} }`;

const updateOrder = `mutation UpdateOrder($input: UpdateOrderInput!) { updateOrder(input: $input) {
  __typename ... on UpdateOrderSuccess { order { id notes } } ... on UserError { message }
} }`;

const recipient = {
  firstName: 'Inés',
  lastName: 'Ruiz',
  email: 'ines.ruiz@example.com',
  phoneNumber: '+573001112233',
  address: { addressLines: ['Calle 1 # 2-3'] },
  location: 'locations/huila-pitalito',
};

type Make = (mark: string, index: number) => GoodRequest;

const keyed = (name: string, mark: string, key: string): GoodRequest =>
  graphql(name, createOrder, {
    input: {
      recipient,
      contentDescription: 'Café en grano',
      notes: `${mark} ring twice`,
      sellingPriceCents: 9_500_000,
      cashOnDeliveryRequestCents: 0,
      idempotencyKey: key,
    },
  });

// Each screen as often as it stands here.
const makes: Make[] = [
  () => graphql('order board, 20 orders', orderBoard, {}),
  () => graphql('order board, 20 orders', orderBoard, {}),
  (mark, index) => graphql('order page', orderPage, { id: `${mark}${2_301 + (index % 200)}` }),
  (mark, index) => graphql('order page', orderPage, { id: `${mark}${2_301 + (index % 200)}` }),
  (mark, index) => graphql('order page', orderPage, { id: `${mark}${2_301 + (index % 200)}` }),
  () => graphql('shipment board, 20 shipments', shipmentBoard, {}),
  () => graphql('organization', 'query Organization { organization { id balance { formatted } } }', {}),
  () => graphql('organization', 'query Organization { organization { id balance { formatted } } }', {}),
  (mark) => graphql('conversation', conversation, { id: `channels/${mark}1/conversations/${mark}60` }),
  (mark, index) => keyed('createOrder, new key', mark, `key-${index}`),
  // Two requests of the tenants' turns have the same index here, so that the second finds the key.
  (mark, index) => keyed('createOrder, key of a moment ago', mark, `again-${Math.floor(index / 500)}`),
  (mark, index) =>
    graphql('updateOrder', updateOrder, {
      input: { id: `${mark}${2_301 + (index % 200)}`, notes: `${mark} new` },
    }),
  (mark) => ({ name: 'label', method: 'GET', path: `/labels/${mark}1500.pdf`, body: null }),
];

export interface Asked {
  name: string;
  outcome: string;
  /** From sending it until its answer was read whole. */
  ms: number;
}

/** Makes one good request, the tenants and the screens in turn, and looks whether its answer is right. */
export async function askGood(client: Dispatcher, watch: Watch, index: number): Promise<Asked> {
  const tenant = index % tenants;
  const mark = `t${tenant}x`;
  const make = makes[Math.floor(index / tenants) % makes.length];
  if (make === undefined) throw new Error('no such screen');
  const { name, method, path, body } = make(mark, index);
  const startedAt = performance.now();
  const { statusCode, body: answer } = await client.request({
    method,
    path,
    body,
    headers: {
      authorization: `Bearer ${tokenOf(tenant)}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
  });
  const text = await answer.text();
  const ms = performance.now() - startedAt;
  const isOwn = look(watch, statusCode, text, tenant);
  const isRight = statusCode === 200 && isOwn && !text.includes('"errors"') && !text.includes('"message"');
  return {
    name,
    outcome: isRight ? 'right' : `wrong: ${outcomeOf(statusCode, text)} ${text.slice(0, 80)}`,
    ms,
  };
}
