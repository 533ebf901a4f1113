import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ProbeResult } from '../../../src/rest/health-probe.ts';
import { createHealth } from '../../../src/server/routes/health.ts';

const notReady = (reason: string) => ({ status: 'not ready', reason });

test('concurrent requests for readiness cost one probe, and its result is cached', async () => {
  const answers: ((result: ProbeResult) => void)[] = [];
  const health = createHealth(() => new Promise((resolve) => answers.push(resolve)), [], 100);
  const both = Promise.all([health.readiness(), health.readiness()]);
  expect(answers).toHaveLength(1);
  answers[0]?.({ unreachable: 'REST is out.' });
  expect(await both).toEqual([notReady('REST is out.'), notReady('REST is out.')]);
  expect(answers).toHaveLength(1);
  await sleep(150);
  const later = health.readiness();
  expect(answers).toHaveLength(2);
  answers[1]?.({});
  expect(await later).toEqual({ status: 'ready' });
});

test('readiness reports all problems of the REST service, the store and its file', async () => {
  const health = createHealth(
    async () => ({ problem: 'REST is slow.' }),
    [() => 'The disk is full.', () => undefined, () => 'The file is gone.'],
  );
  const problem = 'REST is slow. The disk is full. The file is gone.';
  expect(await health.readiness()).toEqual({ status: 'ready', problem });
});

test('a server that shuts down is not ready, and sends no probe', async () => {
  const health = createHealth(async () => {
    throw new Error('asked REST');
  });
  health.markNotReady();
  expect(await health.readiness()).toEqual(notReady('This server is shutting down.'));
});
