import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import { BadInputError } from '../../src/rest/errors.ts';
import { validIds } from '../fixtures/identifiers.ts';
import { answerAsPromised, errorOf, startBench } from '../fixtures/rest-service.ts';
import { orderUpdate } from './bodies.ts';
import { endpoints } from './endpoints.ts';

describe('an unfit id', () => {
  const unfit: [string, string][] = [
    ['two dots', '..'],
    ['one dot', '.'],
    ['a way out of the collection', '../organizations/mine'],
    ['nothing', ''],
    ['10 KB', 'a'.repeat(10_240)],
    ['257 characters', 'a'.repeat(257)],
    ['NUL', 'a\0'],
    ['CRLF', 'a\r\nhost: elsewhere'],
    ['a newline at the end', 'a\n'],
    ['a lone surrogate', 'a\ud800'],
    ['the name of another collection', 'couriers/a'],
    ['a deeper path', 'orders/a/label'],
    ['a slash before it', '/a'],
    ['a slash after it', 'a/'],
  ];
  const takers: [string, (api: RestApi, id: string, callContext: CallContext) => Promise<unknown>][] = [
    ['getOrder', (api, id, callContext) => api.getOrder(id, callContext)],
    ['updateOrder', (api, id, callContext) => api.updateOrder(id, orderUpdate, callContext)],
    ['getQuote', (api, id, callContext) => api.getQuote(id, callContext)],
    ['getShipment', (api, id, callContext) => api.getShipment(id, callContext)],
    ['getLabel', (api, id, callContext) => api.getLabel(id, callContext)],
    ['listTemplates', (api, id, callContext) => api.listTemplates({ channel: id, pageSize: 1 }, callContext)],
    [
      'sendToPhone',
      (api, id, callContext) =>
        api.sendToPhone(id, { recipient: { phone: '1', name: 'a' }, text: 'a' }, callContext),
    ],
    ['sendMessage, channel', (api, id, callContext) => api.sendMessage(id, '1', { text: 'a' }, callContext)],
    [
      'sendMessage, conversation',
      (api, id, callContext) => api.sendMessage('1', id, { text: 'a' }, callContext),
    ],
    [
      'listMessages, channel',
      (api, id, callContext) =>
        api.listMessages({ channel: id, conversation: '1', pageSize: 1 }, callContext),
    ],
    [
      'listMessages, conversation',
      (api, id, callContext) =>
        api.listMessages({ channel: '1', conversation: id, pageSize: 1 }, callContext),
    ],
  ];

  test('is tried with every endpoint that takes one', () => {
    const withId = endpoints.filter(({ line }) => /\/\d+(\/|$)/.test(line)).map(({ method }) => method);
    const tried = takers.map(([name]) => name.replace(/,.*/, ''));
    expect([...new Set(tried)].sort()).toEqual([...new Set<string>(withId)].sort());
  });

  test.each(takers)('%s: is refused and costs no request', async (_name, take) => {
    await using bench = await startBench(answerAsPromised);
    for (const [what, id] of unfit) {
      const error = await errorOf(take(bench.api, id, bench.callContext()));
      expect(error, what).toBeInstanceOf(BadInputError);
      expect(error.message.length, what).toBeLessThan(350);
      expect(error.message, what).not.toMatch(/[\0\r\n\ud800-\udfff]/);
    }
    expect(bench.service.requests).toEqual([]);
    expect(bench.service.connections).toBe(0);
  });

  test('the longest and the shortest fit ones pass', async () => {
    await using bench = await startBench(answerAsPromised);
    for (const id of ['a', '0', `Z${'~'.repeat(255)}`]) await bench.api.getOrder(id, bench.callContext());
    expect(bench.service.requests).toHaveLength(3);
  });

  test.each(validIds)('%j is sent as %s', async (id, encoded) => {
    await using bench = await startBench(answerAsPromised);
    for (const [, take] of takers) await take(bench.api, id, bench.callContext()).catch(() => {});
    const paths = bench.service.requests.map(({ line }) => line.split(' ')[1]?.split('?')[0]);
    expect(paths).toEqual([
      `/v1/orders/${encoded}`,
      `/v1/orders/${encoded}`,
      `/v1/quotes/${encoded}`,
      `/v1/shipments/${encoded}`,
      `/v1/shipments/${encoded}/label`,
      `/v1/channels/${encoded}/templates`,
      `/v1/channels/${encoded}/messages`,
      `/v1/channels/${encoded}/conversations/1/messages`,
      `/v1/channels/1/conversations/${encoded}/messages`,
      `/v1/channels/${encoded}/conversations/1/messages`,
      `/v1/channels/1/conversations/${encoded}/messages`,
    ]);
  });
});
