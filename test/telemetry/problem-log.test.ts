import { beforeEach, expect, test, vi } from 'vitest';
import { createProblemLog, type ProblemTexts } from '../../src/telemetry/problem-log.ts';
import { recordedLog } from '../fixtures/recorded-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

function createProblems(options: Partial<ProblemTexts> = {}) {
  const { log, lines } = recordedLog();
  const problems = createProblemLog(log, { begin: 'it fails', end: 'it works', ...options });
  return {
    ...problems,
    lines,
    messages: () => lines().map(({ msg }) => msg),
    wait: (ms: number) => vi.advanceTimersByTime(ms),
  };
}

const disk = { kind: 'disk' };

test('a problem is logged once when it begins and once when it ends', () => {
  const { note, noteGone, lines, open, wait } = createProblems();
  const since = new Date().toISOString();
  for (let sign = 0; sign < 5; sign += 1) note(disk, 'The disk is full.');
  expect(open()).toEqual([disk]);
  wait(20_000);
  noteGone(disk);
  wait(500);
  expect(lines()).toEqual([
    { level: 'warn', kind: 'disk', problem: 'The disk is full.', msg: 'it fails' },
    { level: 'warn', kind: 'disk', since, seconds: 21, msg: 'it works' },
  ]);
  expect(open()).toEqual([]);
});

test('a problem without new signs lasts until something works', () => {
  const { note, messages, wait } = createProblems();
  note(disk, 'The disk is full.');
  wait(3_600_000);
  expect(messages()).toEqual(['it fails']);
});

test('successes between the signs of a problem do not end the problem', () => {
  const { note, noteGone, messages, wait } = createProblems();
  for (let time = 0; time < 10; time += 1) {
    note(disk, 'The disk is full.');
    noteGone(disk);
    wait(9_000);
  }
  expect(messages()).toEqual(['it fails']);
  wait(1_500);
  expect(messages()).toEqual(['it fails', 'it works']);
});

test('problems with different labels have lines of their own', () => {
  const { note, noteGone, lines, open, wait } = createProblems();
  note({ list: 'orders' }, 'One.');
  note({ list: 'shipments' }, 'Two.');
  noteGone({ list: 'orders' });
  wait(10_500);
  expect(lines().map(({ list, msg }) => [list, msg])).toEqual([
    ['orders', 'it fails'],
    ['shipments', 'it fails'],
    ['orders', 'it works'],
  ]);
  expect(open()).toEqual([{ list: 'shipments' }]);
});

test('a problem that comes and goes has one pair of lines in `msBetweenLines`', () => {
  const { note, noteGone, messages, open, wait } = createProblems({ msBetweenLines: 600_000 });
  for (let time = 0; time < 30; time += 1) {
    note(disk, 'The disk is full.');
    expect(open()).toEqual([disk]);
    noteGone(disk);
    wait(15_000);
  }
  expect(messages()).toEqual(['it fails', 'it works']);
  wait(150_000);
  note(disk, 'The disk is full.');
  expect(messages()).toEqual(['it fails', 'it works', 'it fails']);
});

test('the shutdown logs the end of a problem', () => {
  const { note, close, lines } = createProblems();
  note(disk, 'The disk is full.');
  close();
  note(disk, 'The disk is full.');
  expect(lines()).toMatchObject([{ msg: 'it fails' }, { msg: 'it works', atShutdown: true }]);
});
