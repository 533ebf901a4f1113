import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createCallTimes } from '../../src/loaders/call-times.ts';
import { inTime } from '../../src/loaders/page-reading.ts';
import { createRounds } from '../../src/rest/rounds.ts';
import type { Page } from '../../src/rest/types.ts';
import { until } from '../rest/service.ts';
import { named, type Row } from './list.ts';

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

/** Waits for a page that comes once it is late, while a get that has left is not answered. Leaves nothing of it behind. */
async function waitForLatePage(): Promise<WeakRef<Page<Row>>> {
  const coming = Promise.withResolvers<Page<Row>>();
  const reading = { rows: 1, left: Promise.resolve(), outcome: coming.promise, giveUp() {} };
  const outcome = await inTime(reading, {
    ms: 1,
    getMs: 1,
    times: createCallTimes(),
    askForOne: () => ({
      answer: new Promise(() => {}),
      leftAt() {
        // Only who has found the page late twice over asks for this while the get is not answered.
        setImmediate(() => coming.resolve({ rows: named('r1'), nextPageToken: undefined }));
        return 0;
      },
    }),
  });
  expect(outcome).toEqual({ rows: [{ name: 'r1' }], nextPageToken: undefined });
  return new WeakRef(await coming.promise);
}

test('a page for which somebody has waited while it was late is not kept', async () => {
  const collectGarbage = garbageCollector();
  const pages = [await waitForLatePage(), await waitForLatePage(), await waitForLatePage()];
  // A WeakRef holds what it was made for until the present job has ended.
  await until(() => {
    collectGarbage();
    return pages.every((page) => page.deref() === undefined);
  });
});

test('a page that came in while the server was busy is not late, though it is read at the end of that round', async () => {
  const page: Page<Row> = { rows: named('r1'), nextPageToken: undefined };
  const coming = Promise.withResolvers<Page<Row>>();
  const putOff = createRounds();
  const { port1, port2 } = new MessageChannel();
  port2.onmessage = () => putOff(() => coming.resolve(page));
  let asked = 0;
  const reading = { rows: 1, left: Promise.resolve(), outcome: coming.promise, giveUp() {} };
  const outcome = inTime(reading, {
    ms: 20,
    getMs: undefined,
    times: createCallTimes(),
    askForOne() {
      asked += 1;
      return undefined;
    },
  });
  // From here on timers come first, then what has come in.
  await new Promise((resolve) => setImmediate(resolve));
  port1.postMessage('it is here');
  const busyUntil = performance.now() + 40;
  while (performance.now() < busyUntil);
  expect(await outcome).toBe(page);
  expect(asked).toBe(0);
  port2.close();
});
