import { type Question, requestText } from '../load.ts';
import { markOf, tenants, tokenOf } from '../tenants.ts';
import { count, look, type Outcomes, outcomeOf } from './outcomes.ts';

// Requests of a frontend. Each has a right response.

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

const organization = 'query Organization { organization { id balance { formatted } } }';

const createOrder = `mutation CreateOrder($input: CreateOrderInput!) { createOrder(input: $input) {
  __typename ... on CreateOrderSuccess { order { id notes } } ... on UserError { message }
} }`;

const updateOrder = `mutation UpdateOrder($input: UpdateOrderInput!) { updateOrder(input: $input) {
  __typename ... on UpdateOrderSuccess { order { id notes } } ... on UserError { message }
} }`;

const newOrder = {
  recipient: {
    firstName: 'Inés',
    lastName: 'Ruiz',
    email: 'ines.ruiz@example.com',
    phoneNumber: '+573001112233',
    address: { addressLines: ['Calle 1 # 2-3'] },
    location: 'locations/lo12',
  },
  contentDescription: 'Café en grano',
  notes: 'Ring twice',
  sellingPriceCents: 9_500_000,
  cashOnDeliveryRequestCents: 0,
};

const idOf = (mark: string, index: number) => `${mark}or${801 + (index % 200)}`;

/**
 * The kinds of requests, with their variables for a tenant's mark. A kind that is here twice is sent twice as often.
 */
const kinds: [kind: string, query: string, variables: (mark: string, index: number) => object][] = [
  ['order board, 20 orders', orderBoard, () => ({})],
  ['order board, 20 orders', orderBoard, () => ({})],
  ['order page', orderPage, (mark, index) => ({ id: idOf(mark, index) })],
  ['order page', orderPage, (mark, index) => ({ id: idOf(mark, index) })],
  ['order page', orderPage, (mark, index) => ({ id: idOf(mark, index) })],
  ['shipment board, 20 shipments', shipmentBoard, () => ({})],
  ['organization', organization, () => ({})],
  ['organization', organization, () => ({})],
  ['conversation', conversation, (mark) => ({ id: `channels/${mark}ch1/conversations/${mark}co1` })],
  [
    'createOrder, new key',
    createOrder,
    (_mark, index) => ({ input: { ...newOrder, idempotencyKey: `key-${index}` } }),
  ],
  [
    'createOrder, key of a moment ago',
    createOrder,
    // Several requests of a tenant have the same key, so all but the first find the key.
    (_mark, index) => ({ input: { ...newOrder, idempotencyKey: `again-${Math.floor(index / 500)}` } }),
  ],
  [
    'updateOrder',
    updateOrder,
    (mark, index) => ({ input: { id: idOf(mark, index), notes: 'Ring three times' } }),
  ],
  ['label', '', () => ({})],
];

/** One good request. Tenants and kinds take turns. Its outcome is `right`, or says what was wrong. */
export function goodRequest(index: number, outcomes: Outcomes): Question {
  const tenant = index % tenants;
  const [mark, token] = [markOf(tenant), tokenOf(tenant)];
  const [kind = '', query, variables] = kinds[Math.floor(index / tenants) % kinds.length] ?? [];
  return {
    text: query
      ? requestText({
          path: '/graphql',
          token,
          headers: ['content-type: application/json'],
          body: JSON.stringify({ query, variables: variables?.(mark, index) }),
        })
      : requestText({ method: 'GET', path: `/labels/${mark}sh900.pdf`, token }),
    look(answer) {
      const isOwn = look(outcomes, answer, tenant);
      const isRight = isOwn && outcomeOf(answer) === 'ok' && !/"errors"|"message"/.test(answer);
      const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
      count(outcomes, kind, isRight ? 'right' : `wrong: ${outcomeOf(answer)} ${body.slice(0, 80)}`);
    },
  };
}
