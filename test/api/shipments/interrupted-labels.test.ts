import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Answer, answerJson, until } from '../../fixtures/rest-service.ts';
import { type StartAppOptions, startApp } from '../../fixtures/start-app.ts';

const query = '{ order(id: "7") { fulfiller } }';
const whole = { data: { order: { fulfiller: 'OPERATOR' } }, errors: undefined };

/** Answers all but labels, and those as `answer` does. */
const beside =
  (answer: (response: ServerResponse) => void): Answer =>
  (request, response, body) => {
    if (request.url?.endsWith('/label')) return answer(response);
    return answerJson({ name: 'orders/7', fulfiller: 'OPERATOR' })(request, response, body);
  };

const drip = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/pdf' }).write('%PDF');
  const more = setInterval(() => response.write('x'), 10);
  response.once('close', () => clearInterval(more));
};

/** A server whose labels come from `answer`. */
async function startWithLabels(
  answer: Answer,
  environment: Record<string, string>,
  options: StartAppOptions = {},
) {
  const waybill = await startApp(answer, environment, options);
  return {
    ...waybill,
    label: (id: string, bearer: string, signal: AbortSignal | null = null) =>
      fetch(new URL(`/labels/${id}.pdf`, waybill.url), {
        headers: { authorization: `Bearer ${bearer}` },
        signal,
      }),
  };
}

test.each<[string, (response: ServerResponse) => void]>([
  ['get no response', () => {}],
  ['never end', drip],
])('label calls that %s do not block other requests', async (_how, answer) => {
  await using waybill = await startWithLabels(beside(answer), { UPSTREAM_CONNECTIONS: '2' });
  const clients = new AbortController();
  const gone = ['1', '2', '3', '4'].map((id) => waybill.label(id, 'ana', clients.signal));
  await until(() => waybill.calls().length === 4);
  expect(await waybill.ask(query, 'ana')).toEqual(whole);
  expect(await waybill.ask(query, 'eva')).toEqual(whole);
  clients.abort();
  await Promise.allSettled(gone);
});

test('the time limit ends an endless label response and its REST call', async () => {
  let open = 0;
  await using waybill = await startWithLabels(
    beside((response) => {
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
      drip(response);
    }),
    {},
    { responseTimeoutMs: 300 },
  );
  const label = await waybill.label('7', 'ana');
  expect([label.status, open]).toEqual([200, 1]);
  await expect(label.text()).rejects.toThrow('terminated');
  await until(() => open === 0);
});
