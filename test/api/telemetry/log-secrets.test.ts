import { describe, expect, test } from 'vitest';
import { createErrorReporter } from '../../../src/telemetry/error-report.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { type Answer, answerJson, answerText, startService } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startServer } from '../../fixtures/start-server.ts';

const token = 'canary-token';
const phone = '+573195550142';
const street = 'Calle Canario 5-51';
const email = 'canary@example.com';
const fullName = 'Canaria Lucía';
const shipment = 'canary7';
const everything = /canar|5731955|Lucía|Bearer|authorization|street|pageSize|search|variables|mutation \w/i;

const person = {
  firstName: 'Canaria',
  lastName: 'Lucía',
  phoneNumber: phone,
  email,
  documentType: 'CC',
  document: 'canary-1020304050',
  address: { addressLines: [street], organization: '', location: 'locations/canary' },
};

const order = {
  name: `orders/${shipment}`,
  status: 'NEW',
  notes: `canary: ring at ${street}`,
  contentDescription: 'canary',
  sellingPriceCents: 1,
  cashOnDeliveryRequestCents: 0,
  recipient: person,
  shipment: `shipments/${shipment}`,
};

const query = `query Board($search: String) {
  orders(search: $search, first: 2) { nodes { notes recipient { fullName phoneNumber } shipment { status } } }
  order(id: "${shipment}") { notes }
  street: orderByReference(referenceId: "${street}") { id }
}`;

const mutation = `mutation Send($phone: String!) {
  sendMessageToPhone(input: { channel: "channels/canary", phone: $phone, name: "${fullName}", text: "${street}" }) {
    __typename
  }
}`;

const headers = {
  'content-type': 'application/json',
  authorization: `Bearer ${token}`,
  cookie: 'canary=1',
  'user-agent': 'canary',
};

const requests: [string, string, RequestInit][] = [
  ...[
    { query, variables: { search: phone } },
    { query: mutation, variables: { phone } },
    { query: mutation, variables: { phone: { [street]: email } } },
    { query: `{ order(id: "${street}") { id } }` },
    { query: `{ canary(street: "${street}") }` },
    { query: `{ order(id: "${street}` },
    { query: `query A { __typename }`, operationName: phone },
    { query: 'query A($phone: Int) { __typename }', variables: { phone } },
    [phone],
  ].map((body): [string, string, RequestInit] => [
    JSON.stringify(body),
    '/graphql',
    { method: 'POST', headers, body: JSON.stringify(body) },
  ]),
  ['no JSON', '/graphql', { method: 'POST', headers, body: `{"${phone}` }],
  ['no id', '/graphql', { method: 'POST', headers: { ...headers, 'x-request-id': phone }, body: '{}' }],
  ['GET', `/graphql?query={__typename}&variables=${encodeURIComponent(phone)}`, { headers }],
  ['a label', `/labels/${shipment}.pdf`, { headers }],
  ['a label that is none', `/labels/${encodeURIComponent(street)}.pdf`, { headers }],
  ['another address', `/canary?search=${encodeURIComponent(phone)}`, { headers }],
];

const refusal = {
  error: { message: `${fullName} of ${street} has ${phone}`, details: [{ field: 'phone', message: phone }] },
};

const answers: [string, Answer][] = [
  [
    'a valid record',
    (request, response, body) => {
      const isList = request.url?.includes('?') ?? false;
      const json = isList
        ? { orders: [order], shipments: [{ ...order, name: `shipments/${shipment}` }] }
        : order;
      return answerJson(json)(request, response, body);
    },
  ],
  ['an invalid name', answerJson({ ...order, name: phone })],
  ['a list of strings', answerJson({ orders: [street, phone], nextPageToken: phone })],
  ['400', answerJson(refusal, 400)],
  ['401', answerJson(refusal, 401, { 'www-authenticate': `Bearer ${token}` })],
  ['409', answerJson(refusal, 409)],
  ['500', answerText(`<p>${street} ${token}</p>`, 500)],
  ['invalid JSON', answerText(`{"street":"${street}`, 200, 'application/json')],
  ['a redirect', answerText(street, 302, 'text/html', { location: `/?search=${phone}` })],
  ['nothing', (request) => request.socket.destroy()],
];

describe('the debug log', () => {
  test.each(answers)(
    'has no token, GraphQL document or personal data if REST sends %s',
    async (_what, answer) => {
      const { log, text, lines } = recordedLog('debug');
      await using waybill = await startApp(answer, {}, { log });
      for (const [, path, request] of requests) {
        await (await waybill.fetch(`${path}`, request)).arrayBuffer();
      }
      expect(text()).not.toMatch(everything);
      expect(lines().filter(({ msg }) => msg === 'a request ended')).toHaveLength(requests.length);
      expect(lines().filter(({ msg }) => msg === 'called REST').length).toBeGreaterThan(3);
      expect(waybill.reported).toEqual([]);
    },
  );
});

describe('an internal error', () => {
  /** What the log has of a fault that an operation runs into. */
  async function linesOf(fail: () => unknown) {
    const { log, text, lines } = recordedLog();
    const telemetry = await startTelemetry({ metrics: false, tracing: false }, silentLog);
    await using rest = await startService(answerJson({ name: 'organization/a' }));
    await using server = await startServer(
      rest.url,
      {},
      {
        log,
        // The first code that sees the record.
        telemetry: { ...telemetry, drift: { check: fail } },
        report: createErrorReporter(log),
      },
    );
    const response = await server.fetch('/graphql', {
      method: 'POST',
      headers: { ...headers, 'x-request-id': 'mine' },
      body: JSON.stringify({ query: '{ organization { id } }' }),
    });
    const { errors } = await response.json();
    expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'mine' } }]);
    expect(text()).not.toMatch(everything);
    return lines();
  }

  const stack: string = expect.stringMatching(/^(at .+\n)*at .+log-secrets\.test\.ts:\d+:\d+\)?(\nat .+)*$/);
  const value: unknown = street;

  test.each<[string, () => unknown, object]>([
    [
      'a message that names a property',
      () => (undefined as unknown as { name: string }).name,
      { name: 'TypeError', message: "Cannot read properties of undefined (reading 'name')", stack },
    ],
    ['a message that quotes a value', () => 'street' in (value as object), { name: 'TypeError', stack }],
    [
      'a message with several lines',
      () => {
        throw new RangeError(`a\n    at ${street} (canary:1:1)\nb`);
      },
      { name: 'RangeError', stack },
    ],
    ['a JSON syntax error', () => JSON.parse(street), { name: 'SyntaxError', stack }],
    [
      'an error code of Node.js',
      () => new URL(street),
      { name: 'TypeError', code: 'ERR_INVALID_URL', stack },
    ],
    [
      'an error with a cause',
      () => {
        throw new Error(email, { cause: Object.assign(new Error(phone), { name: street, code: phone }) });
      },
      { name: 'Error', stack, cause: { name: 'Error', stack } },
    ],
    [
      'a rejection with a string',
      () => {
        throw phone;
      },
      { name: 'Error', stack: expect.any(String), cause: { name: 'string' } },
    ],
  ])('is logged with the request id and a stack trace: %s', async (_what, fail, error) => {
    expect(await linesOf(fail)).toEqual([
      { level: 'error', requestId: 'mine', error, msg: 'an unexpected error occurred' },
      expect.objectContaining({
        level: 'info',
        requestId: 'mine',
        errors: { INTERNAL_SERVER_ERROR: 1 },
        msg: 'a request ended',
      }),
    ]);
  });

  test('is logged even if it is its own cause', () => {
    const { log, lines } = recordedLog();
    const error = new Error(street);
    error.cause = error;
    createErrorReporter(log)(error);
    const [line] = lines();
    expect(JSON.stringify(line).match(/"name":"Error"/g)).toHaveLength(6);
    expect(line).toMatchObject({ level: 'error', msg: 'an unexpected error occurred' });
  });
});
