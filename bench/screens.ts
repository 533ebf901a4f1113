import type {
  ChannelJson,
  LocationJson,
  MessageJson,
  OrderJson,
  OrganizationJson,
  OriginJson,
  QuoteJson,
  ShipmentJson,
  TemplateJson,
} from '../src/rest/wire-schema.ts';
import { byName, type Rest, shipmentsOf } from './rest.ts';
import {
  messageShown,
  orderShown,
  originShown,
  placeShown,
  quoteShown,
  recipientShown,
  shipmentShown,
} from './shown-records.ts';

/** A query, and the name of its operation for messages. */
export interface Question {
  name: string;
  query: string;
  variables?: Record<string, unknown>;
}

/** A screen: a query, and the same data by a hand-written REST client with the fewest calls. */
export interface Screen extends Question {
  /** The `data` of the query, with more fields of the same records. */
  byRest(rest: Rest): Promise<object>;
}

/** The main screen: orders with place, courier, origin and cost. */
const orderBoard: Screen = {
  name: 'order board, 100 orders',
  query: `query OrderBoard { orders(first: 100) { nodes {
    id status
    recipient { fullName location { administrativeArea locality } }
    shipment {
      id status totalCost { cents } label { url } courier { code }
      origin { id address { locality addressLines } }
    }
  } } }`,
  async byRest(rest) {
    const [orders, newest, origins, locations] = await Promise.all([
      rest.page<OrderJson>('orders', { pageSize: 100 }),
      rest.page<ShipmentJson>('shipments', { pageSize: 100 }),
      rest.all<OriginJson>('origins'),
      rest.all<LocationJson>('locations'),
    ]);
    const shipmentOf = await shipmentsOf(rest, orders, newest);
    const [originNamed, locationNamed] = [byName(origins), byName(locations)];
    const nodes = orders.map((order) => {
      const shipment = shipmentOf(order);
      const location = placeShown(locationNamed(order.recipient.location));
      return orderShown(order, {
        recipient: recipientShown(order.recipient, { location }),
        shipment: shipmentShown(shipment, shipment && { origin: originShown(originNamed(shipment.origin)) }),
      });
    });
    return { orders: { nodes } };
  },
};

/** Everything about one order, and the latest orders of its customer. */
const orderPage: Screen = {
  name: 'order page',
  query: `query OrderPage($order: ID!) { order(id: $order) {
    id createTime status contentDescription notes cashOnDelivery { cents }
    recipient {
      fullName phoneNumber address { addressLines } location { administrativeArea locality }
      orders(first: 5) { nodes { id createTime status } }
    }
    shipment {
      status totalCost { cents } label { url } courier { code } origin { address { locality } }
      quote { offers { courier { code } status shipmentCost { cents } } }
    }
  } }`,
  variables: { order: 'orders/ca2481' },
  async byRest(rest) {
    const order = await rest.record<OrderJson>('orders/ca2481');
    const { location = '', phoneNumber } = order.recipient;
    const [shipment, locations, latest] = await Promise.all([
      wholeShipment(rest, order.shipment ?? ''),
      rest.page<LocationJson>('locations', { query: location, pageSize: 1000 }),
      // More rows than the screen shows, because the search also finds other customers with similar references.
      rest.page<OrderJson>('orders', { search: phoneNumber, pageSize: 10 }),
    ]);
    const theirs = latest.filter(({ recipient }) => recipient.phoneNumber === phoneNumber).slice(0, 5);
    const recipient = recipientShown(order.recipient, {
      location: placeShown(byName(locations)(location)),
      orders: { nodes: theirs.map((other) => orderShown(other)) },
    });
    return { order: orderShown(order, { recipient, shipment }) };
  },
};

async function wholeShipment(rest: Rest, name: string) {
  const [shipment, origins] = await Promise.all([
    rest.record<ShipmentJson>(name),
    rest.all<OriginJson>('origins'),
  ]);
  const quote = await rest.record<QuoteJson>(shipment.quote ?? '');
  const origin = originShown(byName(origins)(shipment.origin));
  return shipmentShown(shipment, { origin, quote: quoteShown(quote) });
}

/**
 * The latest 20 orders of a customer. Their shipments are far apart in the list, so its newest page has only a few.
 */
const customerPage: Screen = {
  name: 'customer page, 20 orders',
  query: `query CustomerPage($phoneNumber: String!) { orders(search: $phoneNumber, first: 20) { nodes {
    id createTime status contentDescription sellingPrice { cents } recipient { fullName }
    customerBehavior { totalShipments deliveredShipments returnedShipments }
    shipment { status updateTime courier { code } totalCost { cents } }
  } } }`,
  variables: { phoneNumber: '+573104567890' },
  async byRest(rest) {
    const orders = await rest.page<OrderJson>('orders', { search: '+573104567890', pageSize: 20 });
    const shipmentOf = await shipmentsOf(rest, orders, []);
    const nodes = orders.map((order) => orderShown(order, { shipment: shipmentShown(shipmentOf(order)) }));
    return { orders: { nodes } };
  },
};

/** The newest shipments with their origins. */
const shipmentBoard: Screen = {
  name: 'shipment board, 100 shipments',
  query: `query ShipmentBoard { shipments(first: 100) { nodes {
    id status updateTime requiresPickup courier { code } totalCost { cents }
    recipient { fullName phoneNumber address { locality } }
    origin { id address { locality } }
  } } }`,
  async byRest(rest) {
    const [shipments, origins] = await Promise.all([
      rest.page<ShipmentJson>('shipments', { pageSize: 100 }),
      rest.all<OriginJson>('origins'),
    ]);
    const originNamed = byName(origins);
    const nodes = shipments.map((shipment) =>
      shipmentShown(shipment, { origin: originShown(originNamed(shipment.origin)) }),
    );
    return { shipments: { nodes } };
  },
};

/** The labels to print today: orders that are ready, with their shipments if they have one. */
const labelQueue: Screen = {
  name: 'label queue',
  query: `query LabelQueue { orders(status: [READY], first: 100) { nodes {
    id contentDescription recipient { fullName address { locality addressLines } }
    shipment { id status courier { code } label { url } }
  } } }`,
  async byRest(rest) {
    const [orders, newest] = await Promise.all([
      rest.page<OrderJson>('orders', { status: 'READY', pageSize: 100 }),
      rest.page<ShipmentJson>('shipments', { pageSize: 100 }),
    ]);
    const shipmentOf = await shipmentsOf(rest, orders, newest);
    const nodes = orders.map((order) => orderShown(order, { shipment: shipmentShown(shipmentOf(order)) }));
    return { orders: { nodes } };
  },
};

/** The offers of all couriers for one package, with its origin, destination and order. */
const quoteComparison: Screen = {
  name: 'quote comparison',
  query: `query QuoteComparison($quote: ID!) { quote(id: $quote) {
    origin { administrativeArea locality } destination { administrativeArea locality }
    order { id recipient { fullName } }
    package { weightKg declaredValue { cents } }
    offers {
      courier { code } status shipmentCost { cents } returnShipmentCost { cents } estimatedDeliveryOperatingDays
    }
  } }`,
  variables: { quote: 'quotes/ca2139' },
  async byRest(rest) {
    const quote = await rest.record<QuoteJson>('quotes/ca2139');
    const placeNamed = async (name: QuoteJson['origin']) => {
      const found = await rest.page<LocationJson>('locations', { query: name ?? '', pageSize: 1000 });
      return placeShown(byName(found)(name));
    };
    const [origin, destination, order] = await Promise.all([
      placeNamed(quote.origin),
      placeNamed(quote.destination),
      rest.record<OrderJson>(quote.order ?? ''),
    ]);
    return { quote: quoteShown(quote, { origin, destination, order: orderShown(order) }) };
  },
};

const channel = 'channels/ca1';
// REST has no list of conversations, so a client must keep their ids.
const conversations = [60, 58, 54, 53, 52, 42, 37, 29, 13, 10].map(
  (number) => `${channel}/conversations/ca${number}`,
);

/** Ten conversations, each with its last message. */
const inbox: Screen = {
  name: 'inbox, 10 conversations',
  query: `query Inbox($conversations: [ID!]!) { nodes(ids: $conversations) {
    ... on Conversation { id messages(first: 1) { nodes { createTime status body } } }
  } }`,
  variables: { conversations },
  async byRest(rest) {
    const [templates, ...pages] = await Promise.all([
      rest.page<TemplateJson>(`${channel}/templates`, { pageSize: 100 }),
      ...conversations.map((name) => rest.page<MessageJson>(`${name}/messages`, { pageSize: 1 })),
    ]);
    const shown = messageShown(templates);
    const nodes = conversations.map((id, index) => ({ id, messages: { nodes: pages[index]?.map(shown) } }));
    return { nodes };
  },
};

/** The messages to one customer, and their channel. */
const conversation: Screen = {
  name: 'conversation, 50 messages',
  query: `query Conversation($conversation: ID!) { conversation(id: $conversation) {
    channel { type active }
    messages(first: 50) { nodes { id createTime status body template { name } } }
  } }`,
  variables: { conversation: `${channel}/conversations/ca60` },
  async byRest(rest) {
    const [messages, templates, channels] = await Promise.all([
      rest.page<MessageJson>(`${channel}/conversations/ca60/messages`, { pageSize: 50 }),
      rest.page<TemplateJson>(`${channel}/templates`, { pageSize: 100 }),
      rest.page<ChannelJson>('channels', { pageSize: 100 }),
    ]);
    const nodes = messages.map(messageShown(templates));
    return { conversation: { channel: byName(channels)(channel), messages: { nodes } } };
  },
};

/** The balance of the account. It takes one call in every way. */
const organizationHeader: Screen = {
  name: 'organization header',
  query: `query OrganizationHeader {
    organization { id balance { cents } creditLimit { cents } isCreditUser }
  }`,
  async byRest(rest) {
    const { name: id, ...cents } = await rest.record<OrganizationJson>('organizations/mine');
    const balance = { cents: cents.balanceCents };
    const creditLimit = { cents: cents.creditLimitCents };
    return { organization: { id, balance, creditLimit, isCreditUser: cents.balanceCents < 0 } };
  },
};

/** The places from which a courier can collect a package. */
const originPicker: Screen = {
  name: 'origin picker',
  query: `query OriginPicker { origins(first: 100) { nodes {
    id address { addressLines } location { administrativeArea locality }
  } } }`,
  async byRest(rest) {
    // Two pages of locations. A search for the location of each origin would be at least one call more.
    const [origins, locations] = await Promise.all([
      rest.page<OriginJson>('origins', { pageSize: 100 }),
      rest.all<LocationJson>('locations'),
    ]);
    const locationNamed = byName(locations);
    const nodes = origins.map((origin) =>
      originShown(origin, { location: placeShown(locationNamed(origin.location)) }),
    );
    return { origins: { nodes } };
  },
};

/** The screens of a merchant's back office, the main screen first. */
export const screens: readonly [Screen, ...Screen[]] = [
  orderBoard,
  orderPage,
  customerPage,
  shipmentBoard,
  labelQueue,
  quoteComparison,
  inbox,
  conversation,
  organizationHeader,
  originPicker,
];

/**
 * The orders that a merchant sees after paging through 2,000 newer orders. None of their shipments is new.
 * @param endCursorOf Returns the end cursor of a page of orders for the token of the measured requests.
 */
export async function orderBoardFarDown(
  rest: Rest,
  endCursorOf: (question: Question) => Promise<string>,
): Promise<Screen> {
  const name = 'order board, 2,000 orders down';
  const newer = { pageSize: 1000 };
  const query = `query Newer($after: String) {
    orders(first: ${newer.pageSize}, after: $after) { pageInfo { endCursor } }
  }`;
  const middle = await endCursorOf({ name, query });
  const after = await endCursorOf({ name, query, variables: { after: middle } });
  const pageToken = await rest.tokenAfter('orders', {
    ...newer,
    pageToken: await rest.tokenAfter('orders', newer),
  });
  return {
    name,
    query: `query OrderBoardFarDown($after: String) { orders(first: 100, after: $after) { nodes {
      id status recipient { fullName } shipment { id status totalCost { cents } label { url } }
    } } }`,
    variables: { after },
    async byRest(rest) {
      const pendingOrders = rest.page<OrderJson>('orders', { pageSize: 100, pageToken });
      // The first page of shipments and the orders are read at the same time.
      const shipments = await rest.all<ShipmentJson>('shipments', async (rows) => {
        const listed = new Set(rows.map(({ name }) => name));
        return (await pendingOrders).every(({ shipment }) => !shipment || listed.has(shipment));
      });
      const orders = await pendingOrders;
      const shipmentOf = await shipmentsOf(rest, orders, shipments);
      const nodes = orders.map((order) => orderShown(order, { shipment: shipmentShown(shipmentOf(order)) }));
      return { orders: { nodes } };
    },
  };
}
