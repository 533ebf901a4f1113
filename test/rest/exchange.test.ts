import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import type { RestCall } from '../../src/rest/call.ts';
import { createCallers } from '../../src/rest/caller.ts';
import { Canceller } from '../../src/rest/cancellation.ts';
import { createJsonExchange } from '../../src/rest/exchange.ts';
import { enter } from '../../src/rest/ledger.ts';
import { bearer, startService, until } from './service.ts';

const call: RestCall = { method: 'GET', path: '/v1/orders/7' };

/** Has a service answer `text` to a call of 500 ms, and keeps what is put off. */
async function startExchange(text: string) {
  const service = await startService((_request, response) => response.end(text));
  const pool = new Pool(service.url);
  const steps: (() => void)[] = [];
  const exchange = createJsonExchange(pool, {
    baseUrl: service.url,
    callTimeoutMs: 500,
    maxResponseBytes: 100_000,
    putOff: (step) => steps.push(step),
  });
  const signal = new Canceller();
  const caller = createCallers({ callsPerOperation: 1 }).of(bearer, signal);
  const entry = enter(caller.ledger, call);
  const heard: unknown[] = [];
  exchange(call, caller, signal, entry, undefined, {
    answered: (answer) => heard.push(answer),
    failed: (error) => heard.push(error),
  });
  return {
    steps,
    heard,
    entry,
    signal,
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      await service[Symbol.asyncDispose]();
    },
  };
}

test('an answer that has come in is not late and not given up, and has taken as long as it took to come', async () => {
  await using exchange = await startExchange('{"name":"orders/7"}');
  const { steps, heard, entry, signal } = exchange;
  await until(() => steps.length === 1);
  const { durationMs } = entry;
  await pause(600);
  signal.abort(new Error('nobody waits'));
  expect(heard).toEqual([]);
  steps[0]?.();
  expect(heard).toEqual([{ name: 'orders/7' }]);
  expect(durationMs).toBeGreaterThan(0);
  expect(entry.durationMs).toBe(durationMs);
});

test.each([
  ['put off', 16_384, 1],
  ['read at once', 16_385, 0],
])('an answer is %s with %i characters', async (_what, characters, stepsPutOff) => {
  const text = JSON.stringify('a'.repeat(characters - 2));
  await using exchange = await startExchange(text);
  const { steps, heard } = exchange;
  await until(() => steps.length + heard.length === 1);
  expect(steps).toHaveLength(stepsPutOff);
  for (const step of steps) step();
  expect(heard).toEqual([JSON.parse(text)]);
});
