import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

// undici ends the connection at a 100. docs/operations/behave.md tells operators what they see.

const organization = { name: 'organization/1', displayName: 'Café' };
const [read, write] = ['GET /v1/organizations/mine', 'POST /v1/channels/1/messages'];
const sendMessage = `mutation {
  sendMessageToPhone(input: { channel: "channels/1", phone: "+573001112233", name: "Ana", text: "Hola" }) { __typename }
}`;

/** A service that sends an interim response before each response. */
const serviceWith = (sendInterim: (response: ServerResponse) => void) =>
  startApp(
    (request, response, body) => {
      sendInterim(response);
      return answerJson(organization)(request, response, body);
    },
    { UPSTREAM_RETRIES: '0' },
  );

describe('an interim 100 of REST', () => {
  const interim = (response: ServerResponse) => response.writeContinue();

  test('fails a read with UND_ERR_SOCKET', async () => {
    await using app = await serviceWith(interim);
    expect(await app.ask('{ organization { id } }')).toMatchObject({
      errors: [{ code: 'UPSTREAM_UNAVAILABLE', message: `${read} got no response (UND_ERR_SOCKET)` }],
    });
    expect(app.calls()).toEqual([read]);
  });

  test('makes the outcome of a write unknown, and sends it once', async () => {
    await using app = await serviceWith(interim);
    expect(await app.ask(sendMessage)).toEqual({
      data: { sendMessageToPhone: { __typename: 'OutcomeUnknown' } },
    });
    expect(app.calls()).toEqual([write]);
  });
});

test.each<[string, (response: ServerResponse) => void]>([
  ['102', (response) => response.writeProcessing()],
  ['103', (response) => response.writeEarlyHints({ link: '</style.css>; rel=preload' })],
])('an interim %s of REST changes nothing', async (_status, sendInterim) => {
  await using app = await serviceWith(sendInterim);
  expect(await app.ask('{ organization { id } }')).toEqual({
    data: { organization: { id: 'organization/1' } },
  });
  expect(app.calls()).toEqual([read]);
});
