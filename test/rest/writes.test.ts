import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import {
  AbortedError,
  DeadlineError,
  ForeignRecordError,
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
  StatusError,
  UnexpectedNameError,
} from '../../src/rest/errors.ts';
import {
  type Answer,
  answerJson,
  answerText,
  errorOf,
  startRestClient,
  until,
} from '../fixtures/rest-service.ts';
import { newOrder, orderUpdate, shapeless } from './bodies.ts';
import { endpoints } from './endpoints.ts';

type Write = (api: RestApi, callContext: CallContext) => Promise<unknown>;

/** Every endpoint that changes something: its request line and a call. */
const writes = [...new Map(endpoints.map((endpoint) => [endpoint.method, endpoint])).values()]
  .filter(({ line }) => !line.startsWith('GET '))
  .map(({ line, call }): [string, Write] => [line, call]);

/** Names of records of other kinds than the one that a request writes. */
function foreignNames(line: string): string[] {
  const [, collection] = /\/([a-z]+)(?:\/\d+)?$/.exec(line) ?? [];
  const names = ['orders/a', 'shipments/a', 'quotes/a', 'locations/a', 'channels/1', 'messages/1'];
  return names.filter((name) => name !== `${collection}/a`);
}

/** What an answer makes of a write, and how often the write was sent. */
async function outcomeOf(answer: Answer, write: Write) {
  await using rest = await startRestClient(answer);
  const error = await errorOf(write(rest.api, rest.callContext()));
  return { error, sent: rest.service.lines() };
}

function outcomeUnknown(line: string, cause: Error) {
  const error = new OutcomeUnknownError(`${line} was sent, but its response cannot be read`, { cause });
  return { error, sent: [line] };
}

describe('a write with an invalid 2xx response', () => {
  const notJson = (line: string) => new InvalidResponseError(`${line} returned no JSON`);
  const unreadable: [string, Answer, (line: string) => Error][] = [
    ['HTML', answerText('<html><body>Log in</body></html>'), notJson],
    ['cut JSON', answerText('{"name":"orders/7","sta', 201, 'application/json'), notJson],
    ['an empty body', answerText('', 200, 'application/json'), notJson],
    ['status 204', (_request, response) => response.writeHead(204).end(), notJson],
    [
      'a body above the size limit',
      answerJson({ name: 'orders/7', notes: 'a'.repeat(16_777_216) }),
      (line) => new ResponseTooLargeError(`${line} returned more than 16777216 bytes`),
    ],
    [
      'bytes that are not HTTP',
      (request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
      (line) => new InvalidResponseError(`${line} returned no valid HTTP response`),
    ],
  ];

  test.each(unreadable)('fails with OutcomeUnknownError: %s', async (_what, answer, cause) => {
    for (const [line, write] of writes) {
      expect(await outcomeOf(answer, write)).toEqual(outcomeUnknown(line, cause(line)));
    }
  });

  test.each(shapeless)('fails with OutcomeUnknownError if a record is expected: %s', async (_what, json) => {
    for (const [line, write] of writes.slice(0, 2)) {
      const hasName = Object(json) === json && typeof Reflect.get(Object(json), 'name') === 'string';
      const message = `${line} returned a response that is not a record of orders`;
      const cause = new (hasName ? UnexpectedNameError : InvalidResponseError)(message);
      expect(await outcomeOf(answerJson(json), write)).toEqual(outcomeUnknown(line, cause));
    }
  });

  test.each(writes)(
    'fails with OutcomeUnknownError for a record of a different collection: %s',
    async (line, write) => {
      for (const name of foreignNames(line)) {
        const { error, sent } = await outcomeOf(answerJson({ name }), write);
        expect(error, name).toBeInstanceOf(OutcomeUnknownError);
        expect(error.cause).toBeInstanceOf(InvalidResponseError);
        expect(sent).toEqual([line]);
      }
    },
  );

  test('fails with OutcomeUnknownError if the record is not the updated one', async () => {
    const line = 'PATCH /v1/orders/7';
    const cause = new ForeignRecordError(`${line} returned a different record than the requested one`);
    const { error, sent } = await outcomeOf(answerJson({ name: 'orders/8' }), (api, callContext) =>
      api.updateOrder('7', orderUpdate, callContext),
    );
    const message = `${line} was sent, but the response belongs to another request`;
    expect({ error, sent }).toEqual({ error: new OutcomeUnknownError(message, { cause }), sent: [line] });
  });
});

test.each([300, 301, 302, 303, 307, 308, 400, 404, 409, 422, 429, 500, 502, 503, 504])(
  'a write with the response status %i fails with this status after one request',
  async (status) => {
    for (const [line, write] of writes) {
      const { error, sent } = await outcomeOf(answerText('<p>', status), write);
      expect(error).toBeInstanceOf(StatusError);
      expect(error).toMatchObject({ message: `${line} returned ${status}`, isRead: false, status });
      expect(sent).toEqual([line]);
    }
  },
);

describe('a running write', () => {
  test('continues after the abort of an unrelated read', async () => {
    let finish = () => {};
    await using rest = await startRestClient((request, response) => {
      response.write(' ');
      if (request.method === 'POST') finish = () => response.end('{"name":"orders/7"}');
    });
    const giveUp = new AbortController();
    const written = rest.api.createOrder(newOrder, rest.callContext());
    const read = errorOf(rest.api.getOrder('7', rest.callContext(giveUp.signal)));
    await until(() => rest.service.requests.length === 2);
    giveUp.abort();
    expect(await read).toBeInstanceOf(AbortedError);
    finish();
    expect(await written).toEqual({ name: 'orders/7' });
  });

  test('ends at its deadline although bytes keep arriving', async () => {
    await using rest = await startRestClient(
      (_request, response) => {
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(drip));
      },
      { callTimeoutMs: 600 },
    );
    const line = 'POST /v1/orders';
    const cause = new DeadlineError(`${line} was not answered within 600 ms`);
    expect(await errorOf(rest.api.createOrder(newOrder, rest.callContext()))).toEqual(
      new OutcomeUnknownError(`${line} was sent, but its response was lost`, { cause }),
    );
    expect(rest.service.requests.map((request) => request.line)).toEqual([line]);
  });
});
