import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { TimeoutQueue } from '../../../src/concurrency/timeout-queue.ts';
import { mayHaveHappened } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { createOperationScope } from '../../fixtures/operation-scope.ts';
import { type Answer, answerJson, errorOf, startRestClient, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const limit = { OPERATION_TIMEOUT_MS: '1000' };
const late = (call: string, path: string) => ({
  message: `${call} did not finish within the time limit of 1000 ms for operations`,
  path,
  code: 'DEADLINE_EXCEEDED',
  retryable: true,
});

/** Answers by path; what is not there is held, and counted until its connection closes. */
function answering(answers: Record<string, unknown>) {
  const held = new Set<ServerResponse>();
  const answer: Answer = (request, response, body) => {
    const path = request.url?.split('?')[0] ?? '';
    const json = answers[`${request.method} ${path}`];
    if (json !== undefined) return answerJson(json)(request, response, body);
    held.add(response);
    return response.once('close', () => held.delete(response));
  };
  return { answer, held };
}

describe('an operation that takes longer than OPERATION_TIMEOUT_MS', () => {
  test('returns partial data and aborts its pending calls', async () => {
    const { answer, held } = answering({
      'GET /v1/orders/7': { name: 'orders/7', fulfiller: 'OPERATOR', shipment: 'shipments/8' },
    });
    await using waybill = await startApp(answer, limit);
    expect(
      await waybill.ask('{ order(id: "7") { fulfiller shipment { status } } organization { id } }'),
    ).toEqual({
      data: { order: { fulfiller: 'OPERATOR', shipment: null }, organization: null },
      errors: expect.arrayContaining([
        late('GET /v1/shipments/8', 'order.shipment'),
        late('GET /v1/organizations/mine', 'organization'),
      ]),
    });
    await until(() => held.size === 0);
    expect(waybill.calls().sort()).toEqual([
      'GET /v1/orders/7',
      'GET /v1/organizations/mine',
      'GET /v1/shipments/8',
    ]);
  });

  test('does not send a read that still waits for a slot', async () => {
    const { answer } = answering({});
    await using waybill = await startApp(answer, { ...limit, UPSTREAM_CONNECTIONS: '1' });
    const { data, errors } = await waybill.ask(
      '{ a: order(id: "1") { fulfiller } b: order(id: "2") { fulfiller } }',
    );
    expect(data).toEqual({ a: null, b: null });
    expect(errors?.map(({ code }) => code)).toEqual(['DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED']);
    expect(waybill.calls()).toEqual(['GET /v1/orders/1']);
  });

  test('fails on time while another tenant holds all connections', async () => {
    const { answer } = answering({});
    await using waybill = await startApp(answer, { ...limit, UPSTREAM_CONNECTIONS: '1' });
    const first = waybill.ask('{ order(id: "1") { fulfiller } }', 'ana');
    const second = await waybill.ask('{ order(id: "2") { fulfiller } }', 'eva');
    expect(second.errors).toEqual([late('GET /v1/orders/2', 'order')]);
    expect((await first).errors).toEqual([late('GET /v1/orders/1', 'order')]);
    // Where the time of the first is up a moment before, the second may still have its turn.
    expect([['GET /v1/orders/1'], ['GET /v1/orders/1', 'GET /v1/orders/2']]).toContainEqual(waybill.calls());
  });

  test('reports DEADLINE_EXCEEDED for each shipment if the list call hangs', async () => {
    const orders = Array.from({ length: 40 }, (_, index) => ({
      name: `orders/${index}`,
      shipment: `shipments/${index}`,
    }));
    const { answer, held } = answering({ 'GET /v1/orders': { orders } });
    await using waybill = await startApp(answer, limit);
    const { data, errors } = await waybill.ask('{ orders(first: 40) { nodes { id shipment { status } } } }');
    expect(data).toEqual({
      orders: { nodes: orders.map(({ name }) => ({ id: name, shipment: null })) },
    });
    expect(new Set(errors?.map(({ code }) => code))).toEqual(new Set(['DEADLINE_EXCEEDED']));
    await until(() => held.size === 0);
  });

  test('aborts its calls for reference data', async () => {
    const { answer, held } = answering({});
    await using waybill = await startApp(answer, limit);
    const { data, errors } = await waybill.ask('{ origins { nodes { id } } }');
    expect(data).toEqual({ origins: null });
    expect(errors).toEqual([late('GET /v1/origins', 'origins')]);
    await until(() => held.size === 0);
  });
});

describe('a mutation that takes longer than OPERATION_TIMEOUT_MS', () => {
  const send = `mutation {
    sendMessage(input: { conversation: "channels/1/conversations/2", content: { text: "a" } }) {
      __typename ... on UserError { message }
    }
  }`;

  test('returns OutcomeUnknown if the write was sent', async () => {
    const { answer, held } = answering({});
    await using waybill = await startApp(answer, limit);
    const { data, errors } = await waybill.ask(send);
    expect([data, errors]).toEqual([
      { sendMessage: { __typename: 'OutcomeUnknown', message: expect.any(String) } },
      undefined,
    ]);
    await until(() => held.size === 0);
    expect(waybill.calls()).toEqual(['POST /v1/channels/1/conversations/2/messages']);
  });

  test('does not send a write that still waits for a slot', async () => {
    await using rest = await startRestClient(() => {});
    const callContexts = createCallContexts({ callsAtOnce: 1 });
    const first = errorOf(rest.api.getOrder('1', callContexts.of('ana', AbortSignal.timeout(300))));
    const scope = createOperationScope(50);
    scope.startTimeout();
    const error = await errorOf(
      rest.api.sendMessage('1', '2', { text: 'a' }, callContexts.of('eva', scope.deadlineSignal)),
    );
    expect([error.name, mayHaveHappened(error)]).toEqual(['OperationDeadlineError', false]);
    await first;
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1']);
  });
});

test('a finished operation leaves no timer behind', async () => {
  const { answer } = answering({ 'GET /v1/orders/7': { name: 'orders/7', fulfiller: 'OPERATOR' } });
  await using waybill = await startApp(answer, {
    OPERATION_TIMEOUT_MS: '3600000',
    UPSTREAM_TIMEOUT_MS: '600000',
  });
  const clocks = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  await waybill.ask('{ order(id: "7") { fulfiller } }');
  const before = clocks();
  const started = vi.spyOn(TimeoutQueue.prototype, 'start');
  for (let time = 0; time < 20; time += 1) await waybill.ask('{ order(id: "7") { fulfiller } }');
  await waybill.ask('{ __typename }');
  await waybill.ask('mutation { updateOrder(input: { id: "..", notes: "abc" }) { __typename } }');
  expect(clocks()).toBeLessThanOrEqual(before);
  // Of the 20 orders their operations and their calls, and of the write its operation alone.
  const timed = started.mock.calls.map(([one]) => one);
  expect([timed.length, timed.filter(({ endsAtMs }) => endsAtMs !== undefined)]).toEqual([41, []]);
});
