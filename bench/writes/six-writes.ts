import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** A write of one of the six mutations that take an idempotency key. */
export interface Write {
  mutation: string;
  /** The GraphQL document. It answers `__typename` and, of a success, the ids of what was created. */
  document: string;
  input: Record<string, unknown>;
  /** Whether a POST that REST received is of this write. `shipOrder` is counted by its shipments instead. */
  isOwnPost(path: string, body: string): boolean;
}

const person = {
  firstName: 'Inés',
  lastName: 'Ruiz',
  email: 'ines.ruiz@example.com',
  phoneNumber: '+573001112233',
  address: { addressLines: ['Circular 4 # 70-28'] },
};
const recipient = { ...person, location: 'locations/antioquia-medellin-laureles' };
const parcel = {
  declaredValueCents: 9_500_000,
  dimensions: { lengthCm: 30, widthCm: 22, heightCm: 15 },
  weightKg: 1.35,
  contentDescription: 'Café de Huila',
};
const order = { recipient, contentDescription: 'Café de Huila', sellingPriceCents: 9_500_000 };

const documentOf = (mutation: string, input: string, success: string) =>
  `mutation ($input: ${input}!) { ${mutation}(input: $input) { __typename ${success} ... on UserError { message } ... on Conflict { conflictReason: reason } } }`;
const documents = {
  createOrder: documentOf(
    'createOrder',
    'CreateOrderInput',
    '... on CreateOrderSuccess { order { id notes } }',
  ),
  createQuote: documentOf('createQuote', 'CreateQuoteInput', '... on CreateQuoteSuccess { quote { id } }'),
  createShipment: documentOf(
    'createShipment',
    'CreateShipmentInput',
    '... on CreateShipmentSuccess { shipment { id } }',
  ),
  sendMessage: documentOf('sendMessage', 'SendMessageInput', '... on SendMessageSuccess { sent { id } }'),
  sendMessageToPhone: documentOf(
    'sendMessageToPhone',
    'SendMessageToPhoneInput',
    '... on SendMessageSuccess { sent { id } }',
  ),
  shipOrder: documentOf(
    'shipOrder',
    'ShipOrderInput',
    '... on ShipOrderSuccess { order { id } shipment { id } }',
  ),
};

/** A token of each sandbox that does not end. */
const ownTokens = new WeakMap<Sandbox, string>();

/** Calls the sandbox as its first merchant. */
export async function callRest<Json>(sandbox: Sandbox, path: string, body?: object): Promise<Json> {
  const token = ownTokens.get(sandbox) ?? sandbox.issueToken(sandbox.tokens.first);
  ownTokens.set(sandbox, token);
  const response = await fetch(`${sandbox.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/**
 * Makes the write with this number.
 * @param marker a text that no other write has
 * @param group a number of the person who receives the shipment, by default always the same
 */
export async function makeWrite(sandbox: Sandbox, number: number, marker: string, group = 0): Promise<Write> {
  const idempotencyKey = `key-${marker}`;
  const hasMarker = (wanted: string) => (path: string, body: string) =>
    path === wanted && body.includes(`"${marker}"`);
  switch (number % 6) {
    case 0: {
      // Every second order can be searched by its reference after a lost response.
      const reference = number % 12 === 0 ? { referenceId: `ref-${marker}` } : {};
      const input = { ...order, ...reference, notes: marker, cashOnDeliveryRequestCents: 0, idempotencyKey };
      return {
        mutation: 'createOrder',
        document: documents.createOrder,
        input,
        isOwnPost: hasMarker('/v1/orders'),
      };
    }
    case 1: {
      const quoted = { ...parcel, contentDescription: marker };
      const places = { origin: 'locations/huila-pitalito', destination: 'locations/narino-pasto' };
      const input = { ...places, package: quoted, idempotencyKey };
      return {
        mutation: 'createQuote',
        document: documents.createQuote,
        input,
        isOwnPost: hasMarker('/v1/quotes'),
      };
    }
    case 2:
      return makeShipment(sandbox, marker, {}, group);
    case 3: {
      const conversation = 'channels/ca1/conversations/ca60';
      const input = { conversation, content: { text: marker }, idempotencyKey };
      const isOwnPost = hasMarker(`/v1/${conversation}/messages`);
      return { mutation: 'sendMessage', document: documents.sendMessage, input, isOwnPost };
    }
    case 4: {
      const input = {
        channel: 'channels/ca1',
        phone: '+573104567890',
        name: 'Lucía',
        text: marker,
        idempotencyKey,
      };
      const isOwnPost = hasMarker('/v1/channels/ca1/messages');
      return { mutation: 'sendMessageToPhone', document: documents.sendMessageToPhone, input, isOwnPost };
    }
    default: {
      const { name } = await callRest<{ name: string }>(sandbox, '/v1/orders', {
        ...{
          ...order,
          recipient: { ...recipient, ...personIn(group) },
          notes: marker,
          cashOnDeliveryRequestCents: 0,
          status: 'CONFIRMED',
          paymentMethods: [],
        },
      });
      const input = { order: name, origin: 'origins/ca4', package: parcel, idempotencyKey };
      return { mutation: 'shipOrder', document: documents.shipOrder, input, isOwnPost: () => false };
    }
  }
}

const personIn = (group: number) => ({
  lastName: group === 0 ? person.lastName : `${person.lastName} ${group}`,
  phoneNumber: `+57300${1_112_233 + group}`,
});

/** Makes a `createShipment` with a quote of its own. @param quoted more fields of the quote, such as its order */
export async function makeShipment(
  sandbox: Sandbox,
  marker: string,
  quoted: object,
  group = 0,
): Promise<Write> {
  const quote = await callRest<{ name: string; offers: { courier: string; status: string }[] }>(
    sandbox,
    '/v1/quotes',
    {
      ...{ origin: 'locations/huila-pitalito', destination: 'locations/narino-pasto', package: parcel },
      ...{ cashOnDeliveryRequestCents: 0, ...quoted },
    },
  );
  const courier = quote.offers.find(({ status }) => status === 'SUCCESS')?.courier;
  const input = {
    ...{ quote: quote.name, courier, origin: 'origins/ca4', requiresPickup: true },
    recipient: { ...person, ...personIn(group), lastName: marker },
    idempotencyKey: `key-${marker}`,
  };
  const isOwnPost = (path: string, body: string) => path === '/v1/shipments' && body.includes(`"${marker}"`);
  return { mutation: 'createShipment', document: documents.createShipment, input, isOwnPost };
}

/** Counts the shipments of each order. Orders without a shipment are left out. */
export async function countShipments(sandbox: Sandbox): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let pageToken = '';
  do {
    const path = `/v1/shipments?pageSize=1000${pageToken && `&pageToken=${pageToken}`}`;
    const page = await callRest<{ shipments: { quote: string }[]; nextPageToken: string }>(sandbox, path);
    for (const { quote } of page.shipments) {
      // The seed has quotes with other names.
      const { order } = await callRest<{ order?: string }>(sandbox, `/v1/${quote}`);
      if (order !== undefined) counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return counts;
}

interface Json {
  data?: Record<string, { __typename: string; message?: string; conflictReason?: string } | null> | null;
  errors?: { extensions?: { code?: string; retryable?: boolean; retryAfterMs?: number } }[];
}

/** What Waybill has answered to a write. */
export interface Answer {
  /** The type of the result, the code of an error, or `no response`. */
  result: string;
  /** The message of a result that is no success. */
  message: string;
  /** The reason of a `Conflict`. */
  conflictReason: string | undefined;
  /** Whether an error says that the same request can succeed later. */
  isRetryable: boolean;
  /** The whole body. */
  text: string;
}

/** Sends a write once. */
export async function askOnce(
  url: string,
  { mutation, document, input }: Write,
  token: string,
): Promise<Answer> {
  const answer = { message: '', conflictReason: undefined, isRetryable: false };
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, connection: 'close' },
      body: JSON.stringify({ query: document, variables: { input } }),
      signal: AbortSignal.timeout(40_000),
    });
    const text = await response.text();
    const { data, errors }: Json = JSON.parse(text);
    const found = data?.[mutation];
    if (found !== undefined && found !== null) {
      const { __typename, message = '', conflictReason } = found;
      return { ...answer, result: __typename, message, conflictReason, text };
    }
    const { code = `HTTP ${response.status}`, retryable = false } = errors?.[0]?.extensions ?? {};
    return { ...answer, result: code, isRetryable: retryable, text };
  } catch {
    // The server was killed or stands still: the response is lost.
    return { ...answer, result: 'no response', text: '' };
  }
}

/** Sends a write once. @returns the type of its result, with the message of a conflict, or the code of its error. */
export async function sendOnce(url: string, write: Write, token: string): Promise<string> {
  const { result, message } = await askOnce(url, write, token);
  return /^(Conflict|InvalidInput)$/.test(result) ? `${result}: ${message}` : result;
}
