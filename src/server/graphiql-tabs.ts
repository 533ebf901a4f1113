/** One tab of GraphiQL, in the form that it takes them. Its title is the name of the operation. */
export interface Tab {
  query: string;
  /** JSON, as the variables pane shows it. */
  variables: string | null;
}

/** The ids that the tabs name. */
interface Ids {
  order: string;
  unshippedOrder: string;
  origin: string;
  location: string;
  conversation: string;
}

/** From the sandbox's seed: a regular customer's order on its way, a new one of hers, and what she was written. */
const sandboxIds: Ids = {
  order: 'orders/ca2481',
  unshippedOrder: 'orders/ca2496',
  origin: 'origins/ca1',
  location: 'locations/huila-pitalito',
  conversation: 'channels/ca1/conversations/ca60',
};

/** Before a live service, whose ids only its merchant knows. */
const placeholders: Ids = {
  order: 'orders/<order id>',
  unshippedOrder: 'orders/<order id>',
  origin: 'origins/<origin id>',
  location: 'locations/<location id>',
  conversation: 'channels/<channel id>/conversations/<conversation id>',
};

/**
 * The tabs that GraphiQL opens with. Lines are at most 58 characters long, which is what a pane shows of them. The
 * first tab has no variables: GraphiQL would not take them.
 */
export function createTabs(inSandbox: boolean): readonly Tab[] {
  const ids = inSandbox ? sandboxIds : placeholders;
  return [
    { query: orders, variables: null },
    { query: order(ids), variables: null },
    { query: createOrder(ids), variables: null },
    { query: shipOrder(ids), variables: null },
    { query: conversation(ids), variables: null },
    { query: sendMessage(ids), variables: null },
    { query: locations, variables: JSON.stringify({ search: 'Medellín' }, null, 2) },
    { query: missing, variables: null },
  ];
}

const orders = `# The newest orders that are on their way or delivered,
# each with its shipment and its label.
# REST: GET /v1/orders, then one GET /v1/shipments for
# all of them.
query Orders {
  orders(first: 10, status: [IN_PROGRESS, DELIVERED]) {
    nodes {
      id
      status
      recipient { fullName address { locality } }
      cashOnDelivery { formatted }
      shipment {
        status
        courier { code }
        totalCost { formatted }
        label { id pdfUrl }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`;

const order = (ids: Ids) => `# One order in depth: its shipment, the offers that there
# were, where it leaves, what else this customer ordered.
# REST: a GET each of the order, its shipment, its quote,
# the origins, a location, and the customer's orders.
query Order {
  order(id: "${ids.order}") {
    status
    contentDescription
    sellingPrice { formatted }
    shipment {
      status
      totalCost { cents formatted(locale: "en-US") }
      quote {
        offers { ...Terms status }
        cheapestOffer { ...Terms }
        fastestOffer { ...Terms }
      }
      courier { code }
      origin {
        address { addressLines }
        location { locality administrativeArea }
      }
    }
    customerBehavior { deliveredShipments reliability }
    recipient {
      fullName
      phoneNumber
      orders(first: 5) {
        nodes { id createTime status contentDescription }
      }
    }
  }
}

fragment Terms on Offer {
  courier { code }
  shipmentCost { formatted }
  estimatedDeliveryOperatingDays
}
`;

const createOrder = (ids: Ids) => `# Records an order. Run it twice: the same key gives the
# same order. Empty the notes: the fault has its place.
# REST: POST /v1/orders, once for the key.
mutation CreateOrder {
  createOrder(input: {
    recipient: {
      firstName: "Inés"
      lastName: "Ruiz"
      email: "ines.ruiz@example.com"
      phoneNumber: "+573001112233"
      address: { addressLines: ["Calle 1 # 2-3"] }
      location: "${ids.location}"
    }
    contentDescription: "Café de Pitalito, 2 kg"
    notes: "Entregar en la portería"
    sellingPriceCents: 9500000
    cashOnDeliveryRequestCents: 9500000
    referenceId: "graphiql-1"
    idempotencyKey: "graphiql-create-1"
  }) {
    ... on CreateOrderSuccess {
      order { id status cashOnDelivery { formatted } }
    }
    ... on UserError { message }
    ... on InvalidInput { fields { path message } }
  }
}
`;

const shipOrder = (ids: Ids) => `# Ships an order in one request: asks the couriers, takes
# the cheapest offer within the limit, makes the label.
# To change what is asked for, take another key.
# REST: a GET each of the order and the origins, then
# POST /v1/quotes and POST /v1/shipments.
mutation ShipOrder {
  shipOrder(input: {
    order: "${ids.unshippedOrder}"
    origin: "${ids.origin}"
    package: {
      declaredValueCents: 9500000
      dimensions: { lengthCm: 30 widthCm: 20 heightCm: 9 }
      weightKg: 2.2
      contentDescription: "Café en grano"
    }
    offer: { prefer: CHEAPEST }
    maxShipmentCostCents: 5000000
    idempotencyKey: "graphiql-ship-1"
  }) {
    ... on ShipOrderSuccess {
      offer {
        courier { code }
        shipmentCost { formatted }
      }
      shipment { id status label { pdfUrl } }
    }
    ... on UserError { message }
    ... on NoOffer {
      quote { offers { courier { code } status } }
    }
  }
}
`;

const conversation = (ids: Ids) => `# A conversation as the customer reads it: texts, and
# templates with their values filled in.
# REST: a GET each of the messages, the channels, and the
# channel's templates.
query Conversation {
  conversation(
    id: "${ids.conversation}"
  ) {
    channel { type phoneNumber }
    messages(first: 10) {
      nodes {
        createTime
        status
        contentType
        body
        template { name bodyParameters { name value } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`;

const sendMessage = (ids: Ids) => `# Sends a template into a conversation. It is checked
# first: leave out a parameter, with another key.
# REST: GET the channel's templates, POST the message,
# once for the key.
mutation SendMessage {
  sendMessage(input: {
    conversation:
      "${ids.conversation}"
    content: {
      template: {
        name: "pedido_confirmado"
        language: "es"
        headerParameters: { name: "1", value: "1001" }
        bodyParameters: [
          { name: "1", value: "Lucía" }
          { name: "2", value: "2 kg de café" }
          { name: "3", value: "$ 95.000" }
          { name: "4", value: "Medellín" }
        ]
      }
    }
    idempotencyKey: "graphiql-send-1"
  }) {
    ... on SendMessageSuccess {
      sent { id status body }
    }
    ... on UserError { message }
    ... on InvalidInput { fields { path message } }
  }
}
`;

const locations = `# The places that couriers serve, found by a part of their
# name or address. The text to search for is a variable.
# REST: one GET /v1/locations with that filter.
query Locations($search: String!) {
  locations(search: $search, first: 10) {
    nodes { id locality administrativeArea regionCode }
    pageInfo { hasNextPage endCursor }
  }
}
`;

const missing = `# What does not exist is null, and no error. A wrong id is
# refused; the fields beside it are answered all the same.
# REST: GET /v1/orders/{id}, which answers 404, and
# GET /v1/organizations/mine; none for the wrong id.
query Missing {
  missing: order(id: "orders/no-such-order") {
    status
  }
  wrongId: order(id: "shipments/not-an-order") {
    status
  }
  organization {
    balance { formatted }
    creditLimit { formatted }
    isCreditUser
  }
}
`;
