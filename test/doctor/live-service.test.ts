import { expect, test } from 'vitest';
import { LiveService, maxCalls, spacingMs } from '../../src/doctor/live-service.ts';
import { answerJson, startService } from '../fixtures/rest-service.ts';

test('LiveService sends at most 80 calls, with pauses between them', async () => {
  const times: number[] = [];
  await using service = await startService((...args) => {
    times.push(performance.now());
    return answerJson({})(...args);
  });
  const live = new LiveService({ url: service.url, token: 'token', spacingMs: 10 });
  for (let call = 0; call < maxCalls; call += 1) await live.get('/v1/orders');
  await expect(live.get('/v1/orders')).rejects.toThrow('not sent, because the doctor stopped after 80 calls');
  await live.close();
  expect(times).toHaveLength(80);
  const pauses = times.slice(1).map((ms, index) => ms - (times[index] ?? 0));
  // A timer may fire a millisecond early.
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(9);
});

test('80 calls of 50 ms take less than 30 seconds, including the pauses', () => {
  expect(maxCalls * (spacingMs + 50)).toBeLessThan(30_000);
});

test('a call has the headers of Waybill and a description without ids', async () => {
  await using service = await startService(answerJson({}));
  const live = new LiveService({ url: service.url, token: 'token', spacingMs: 0 });
  const { call } = await live.get('/v1/orders/ca1', { search: 'Lucía' });
  await live.close();
  expect(call).toBe('GET /v1/orders/{id} with search');
  expect(service.requests).toMatchObject([
    {
      line: 'GET /v1/orders/ca1?search=Luc%C3%ADa',
      headers: { authorization: 'Bearer token', 'user-agent': expect.stringMatching(/^waybill\//) },
    },
  ]);
});

test('an endless response body is aborted', async () => {
  await using service = await startService((_request, response) => {
    const write = () => void response.write(Buffer.alloc(1_048_576), () => response.writable && write());
    write();
  });
  const live = new LiveService({ url: service.url, token: 'token' });
  await expect(live.get('/v1/orders')).rejects.toThrow('TOO_LARGE');
  await live.close();
});
