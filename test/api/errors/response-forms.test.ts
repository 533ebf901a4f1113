import { afterAll, beforeEach, expect, test } from 'vitest';
import { organizationQuery } from '../../fixtures/organization-query.ts';
import { sendRaw } from '../../fixtures/raw-http.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { sandbox, authorization } = waybill;

beforeEach(() => sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

/** Posts a body, for an answer in one of these forms, on a connection that is to be closed. */
function ask(body: string, accept: string) {
  const head = [
    'POST /graphql HTTP/1.1',
    'host: a',
    `authorization: ${authorization}`,
    'content-type: application/json',
    `accept: ${accept}`,
    `content-length: ${body.length}`,
    'connection: close',
  ];
  return sendRaw(waybill, `${head.join('\r\n')}\r\n\r\n`, body);
}

test.each(['text/plain, image/*;q=0.5', 'text/html', 'multipart/mixed', 'json'])(
  'a mutation is rejected before it runs if its client accepts only %s',
  async (accept) => {
    const mutation = 'mutation { updateOrder(input: { id: "ca2496", notes: "Ring twice" }) { __typename } }';
    const { status, body } = await ask(JSON.stringify({ query: mutation }), accept);
    expect(status).toBe(406);
    expect(JSON.parse(body)).toEqual({
      errors: [
        {
          message: 'Responses are JSON in UTF-8. Send the header "accept: application/json".',
          extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', retryable: false },
        },
      ],
    });
    expect(sandbox.requests.lines()).toEqual([]);
  },
);

test.each(['*/*', 'application/*', 'text/html, */*;q=0.8', 'text/plain, Application/JSON ; charset=utf-8'])(
  'a client that accepts %s gets JSON',
  async (accept) => {
    const { status, headers, body } = await ask(organizationQuery, accept);
    expect([status, headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^application\/(graphql-response\+)?json/),
    ]);
    expect(JSON.parse(body)).toEqual({ data: { organization: { id: 'organization/cafe-andino' } } });
  },
);
