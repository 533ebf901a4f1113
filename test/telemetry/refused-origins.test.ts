import { beforeEach, expect, test, vi } from 'vitest';
import { createRefusedOriginLog } from '../../src/telemetry/refused-origins.ts';
import { recordedLog } from '../fixtures/recorded-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

function startLog() {
  const { log, lines, text } = recordedLog();
  return {
    refuse: createRefusedOriginLog(log),
    origins: () => lines().map(({ origin }) => origin),
    lines,
    text,
  };
}

test('a refused origin is logged once', () => {
  const { refuse, lines } = startLog();
  for (const origin of ['capacitor://localhost', 'https://shop.example', 'capacitor://localhost', 'null'])
    refuse(origin);
  vi.advanceTimersByTime(3_600_000);
  refuse('https://shop.example');
  const msg = 'a web page or app was refused, because CORS_ORIGINS does not list its origin';
  expect(lines()).toEqual([
    { level: 'info', origin: 'capacitor://localhost', msg },
    { level: 'info', origin: 'https://shop.example', msg },
    { level: 'info', origin: 'null', msg },
  ]);
});

test('at most ten refused origins are logged in any minute, and the others later', () => {
  const { refuse, origins } = startLog();
  for (let index = 0; index < 5; index += 1) refuse(`https://a${index}.example`);
  vi.advanceTimersByTime(59_000);
  for (let index = 0; index < 20; index += 1) refuse(`https://b${index}.example`);
  expect(origins()).toHaveLength(10);
  // The first five lines are a minute old, and the others one second.
  vi.advanceTimersByTime(1_000);
  for (let index = 0; index < 20; index += 1) refuse(`https://b${index}.example`);
  expect(origins()).toHaveLength(15);
  vi.advanceTimersByTime(60_000);
  refuse('https://b19.example');
  expect(origins().at(-1)).toBe('https://b19.example');
});

test.each([
  ['a long origin is cut', `https://${'a'.repeat(10_000)}`, `https://${'a'.repeat(120)}…`],
  [
    'a quote and a line break are escaped',
    'https://a"\n{"level":"fatal"}',
    String.raw`https://a\"\n{\"level\":\"fatal\"}`,
  ],
  ['a control character is escaped', 'https://a\u0085b', String.raw`https://a\u0085b`],
  ['credentials are left out', 'https://me:secret@a.example', '…@a.example'],
])('the line of a refused origin is safe: %s', (_what, origin, shown) => {
  const { refuse, origins, text } = startLog();
  refuse(origin);
  expect(origins()).toEqual([shown]);
  expect(text().split('\n')).toHaveLength(2);
});

test('at most 1,000 refused origins are remembered', () => {
  const { refuse, origins } = startLog();
  const refuseMany = (prefix: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      if (index % 10 === 0) vi.advanceTimersByTime(60_000);
      refuse(`https://${prefix}${index}.example`);
    }
  };
  refuse('https://first.example');
  refuseMany('a', 999);
  vi.advanceTimersByTime(60_000);
  refuse('https://first.example');
  expect(origins()).toHaveLength(1_000);
  refuse('https://last.example');
  refuse('https://first.example');
  expect(origins().slice(-2)).toEqual(['https://last.example', 'https://first.example']);
});
