import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CallClock, type Timed } from '../../src/concurrency/timeout-queue.ts';
import { until } from '../fixtures/rest-service.ts';

function timed(timeIsUp: () => void): Timed {
  return { before: undefined, after: undefined, endsAt: undefined, timeIsUp };
}

test('all whose time runs hear of its end in their order, unless they were stopped, be it on the way', async () => {
  const clock = new CallClock(20);
  const heard: string[] = [];
  const [first, stopped, late, last] = ['first', 'stopped', 'late', 'last'].map((name) =>
    timed(() => {
      heard.push(name);
      if (name === 'first' && late !== undefined) clock.stop(late);
    }),
  );
  for (const one of [first, stopped, late]) if (one !== undefined) clock.start(one);
  if (stopped !== undefined) clock.stop(stopped);
  await pause(5);
  if (last !== undefined) clock.start(last);
  await until(() => heard.length === 2);
  expect(heard).toEqual(['first', 'last']);
});

test('one that ends may begin anew, also after a time in which nothing ran', async () => {
  const clock = new CallClock(5);
  let ends = 0;
  const one = timed(() => {
    ends += 1;
    if (ends < 3) clock.start(one);
  });
  clock.start(one);
  await until(() => ends === 3);
  await pause(20);
  expect(ends).toBe(3);
  clock.start(one);
  await until(() => ends === 4);
});
