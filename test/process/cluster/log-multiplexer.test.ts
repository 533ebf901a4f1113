import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogMultiplexer } from '../../../src/process/cluster/log-multiplexer.ts';

/** Two streams, and the lines that the multiplexer has written. */
function startMultiplexer() {
  const written: string[] = [];
  const multiplexer = createLogMultiplexer((text) => written.push(text));
  const [a, b] = [new PassThrough(), new PassThrough()];
  multiplexer.add(a);
  multiplexer.add(b);
  return { written, multiplexer, a, b };
}

const nextRound = () => new Promise((resolve) => setImmediate(resolve));

test('a log line is forwarded as a whole even if it arrives in chunks', async () => {
  const { written, a, b } = startMultiplexer();
  const [first, second] = [Buffer.from('café 1\n').subarray(0, 4), Buffer.from('café 1\n').subarray(4)];
  a.write(first);
  await nextRound();
  b.write('tea 1\ntea 2\nte');
  await nextRound();
  a.write(second);
  await nextRound();
  b.write('a 3\n');
  await nextRound();
  expect(written).toEqual(['tea 1\ntea 2\n', 'café 1\n', 'tea 3\n']);
});

test('the log multiplexer ends when all streams have ended', async () => {
  const { written, multiplexer, a, b } = startMultiplexer();
  const ended = multiplexer.ended();
  a.end('a\nbroken');
  await once(a, 'close');
  b.end('b\n');
  await ended;
  expect(written).toEqual(['a\n', 'b\n']);
});
