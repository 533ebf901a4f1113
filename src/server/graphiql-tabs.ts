/** One tab of GraphiQL, in the form that it takes them. Its title is the name of the operation. */
export interface Tab {
  query: string;
  /** JSON, as the variables pane shows it. */
  variables: string | null;
}

/** The ids that the tabs look up. */
interface Ids {
  order: string;
  quote: string;
  conversation: string;
}

/** From the sandbox's seed: an order of a regular customer, its quote, and what she was written. */
const sandboxIds: Ids = {
  order: 'orders/ca2481',
  quote: 'quotes/ca2139',
  conversation: 'channels/ca1/conversations/ca60',
};

/** Before a live service, whose ids only its merchant knows. */
const placeholders: Ids = {
  order: 'orders/<order id>',
  quote: 'quotes/<quote id>',
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
    { query: offers(ids), variables: null },
    { query: conversation(ids), variables: null },
    { query: locations, variables: JSON.stringify({ search: 'Medellín' }, null, 2) },
    { query: account, variables: null },
    { query: missing, variables: null },
    { query: wrongId, variables: null },
  ];
}

const orders = `# The newest orders that are on their way or delivered,
# each with its shipment and its label.
# REST: GET /v1/orders, GET /v1/shipments/{id} for each.
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

const order = (ids: Ids) => `# One order in depth: its shipment, the offers to choose
# from, where it leaves, what else this customer ordered.
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
        offers { courier { code } status }
        cheapestOffer { courier { code } }
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
`;

const offers = (ids: Ids) => `# What the couriers offered for one package, and which of
# these is the cheapest, which the fastest.
# REST: GET /v1/quotes/{id}, then a GET /v1/locations
# with a filter for each end of the way.
query Offers {
  quote(id: "${ids.quote}") {
    origin { locality administrativeArea }
    destination { locality administrativeArea }
    package {
      weightKg
      dimensions { lengthCm widthCm heightCm }
      declaredValue { formatted }
    }
    cheapestOffer { ...Terms }
    fastestOffer { ...Terms }
    offers { ...Terms status available }
  }
}

fragment Terms on Offer {
  courier { code }
  shipmentCost { formatted }
  estimatedDeliveryOperatingDays
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

const account = `# The merchant's account, the places where packages are
# collected, and the channels to write to customers.
# REST: GET /v1/organizations/mine, GET /v1/origins and
# GET /v1/channels, all at the same time.
query Account {
  organization {
    id
    balance { formatted }
    creditLimit { formatted }
    isCreditUser
  }
  origins {
    nodes { id address { addressLines locality } }
  }
  channels {
    nodes { id type active phoneNumber }
  }
}
`;

const missing = `# What does not exist is null. That is no error.
# REST: GET /v1/orders/{id}, which answers 404.
query Missing {
  order(id: "orders/no-such-order") {
    status
  }
}
`;

const wrongId = `# A wrong id is refused; the field beside it is answered.
# REST: GET /v1/organizations/mine, none for the wrong id.
query WrongId {
  order(id: "shipments/not-an-order") {
    status
  }
  organization {
    id
  }
}
`;
