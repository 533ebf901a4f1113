import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogMultiplexer } from '../../../src/process/cluster/log-multiplexer.ts';

/** Two streams, and what is made of them. */
function startLines() {
  const written: string[] = [];
  const lines = createLogMultiplexer((text) => written.push(text));
  const [a, b] = [new PassThrough(), new PassThrough()];
  lines.add(a);
  lines.add(b);
  return { written, lines, a, b };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('lines are passed on whole, however they come in pieces', async () => {
  const { written, lines, a, b } = startLines();
  lines.flow();
  const [first, second] = [Buffer.from('café 1\n').subarray(0, 4), Buffer.from('café 1\n').subarray(4)];
  a.write(first);
  await turn();
  b.write('tea 1\ntea 2\nte');
  await turn();
  a.write(second);
  await turn();
  b.write('a 3\n');
  await turn();
  expect(written).toEqual(['tea 1\ntea 2\n', 'café 1\n', 'tea 3\n']);
});

test('they wait until they may flow, those written here first', async () => {
  const { written, lines, a, b } = startLines();
  a.write('a\n');
  lines.write('own\n');
  b.write('b\n');
  await turn();
  expect(written).toEqual([]);
  lines.flow();
  await turn();
  expect(written).toEqual(['own\n', 'a\n', 'b\n']);
});

test('the end of all streams is the end, and a line that was broken off is none', async () => {
  const { written, lines, a, b } = startLines();
  lines.flow();
  const ended = lines.ended();
  a.end('a\nbroken');
  await once(a, 'close');
  b.end('b\n');
  await ended;
  expect(written).toEqual(['a\n', 'b\n']);
});
