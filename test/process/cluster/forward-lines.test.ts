import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { forwardLines } from '../../../src/process/cluster/forward-lines.ts';

/** Two streams, and the lines that were written. */
function startTwo() {
  const written: string[] = [];
  const [a, b] = [new PassThrough(), new PassThrough()];
  const ended = [a, b].map((stream) => forwardLines(stream, (lines) => written.push(lines)));
  return { written, ended, a, b };
}

const nextRound = () => new Promise((resolve) => setImmediate(resolve));

test('a log line is forwarded as a whole even if it arrives in chunks', async () => {
  const { written, a, b } = startTwo();
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

test('whole log lines are forwarded until the stream closes', async () => {
  const { written, ended, a, b } = startTwo();
  a.end('a\nbroken');
  b.end('b\n');
  await Promise.all(ended);
  expect(written).toEqual(['a\n', 'b\n']);
});
