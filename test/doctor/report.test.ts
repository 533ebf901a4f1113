import { expect, test } from 'vitest';
import type { Report } from '../../src/doctor/examine.ts';
import { compare, toTable, toVariables } from '../../src/doctor/report.ts';

const report = (...findings: Report['findings']): Report => ({
  isUsable: true,
  calls: 3,
  medianMs: 40,
  settings: { UPSTREAM_URL: 'https://api.example.com', PAGE_SIZE_PARAMETER: 'limit' },
  findings,
});

const label = { check: 'label', mark: 'ok', cause: 'The label is a PDF of 3192 bytes.' } as const;

test('the table has a line for each cause and each remedy', () => {
  const clock = { check: 'clock', mark: 'warning', cause: 'No Date.', remedy: 'Ask for it.' } as const;
  expect(toTable(report(label, clock))).toBe(
    `✓ label  The label is a PDF of 3192 bytes.
! clock  No Date.
         → Ask for it.

Waybill can use this service. The doctor sent 3 calls. The median duration was 40 ms.

UPSTREAM_URL=https://api.example.com
PAGE_SIZE_PARAMETER=limit
`,
  );
});

test('the table does not judge a service that the doctor could not examine', () => {
  const token = { check: 'access token', mark: 'open', cause: 'It was not checked.' } as const;
  expect(toTable({ ...report(token), isUsable: false })).toContain(
    'The doctor cannot tell whether Waybill can use this service.',
  );
});

test.each([
  [0, 'The doctor sent 0 calls. '],
  [1, 'The doctor sent 1 call. '],
  [2, 'The doctor sent 2 calls. '],
])('the table counts %d calls', (calls, sentence) => {
  expect(toTable({ ...report(label), calls })).toContain(` ${sentence}The median `);
});

test.each([
  ['https://api.example.com/rest/v2', 'https://api.example.com/rest/v2'],
  ['http://[::1]:4001/a%20b', 'http://[::1]:4001/a%20b'],
  ["https://api.example.com/a$b;'c'&~", 'https://api.example.com/a%24b%3b%27c%27%26%7e'],
])('the address %s is escaped for a shell', (address, expected) => {
  const settings = { UPSTREAM_URL: address };
  expect(toVariables({ ...report(), settings })).toBe(`UPSTREAM_URL=${expected}\n`);
});

test('compare() ignores changed numbers, and any check that had the mark "?" before', () => {
  const now = report({ ...label, cause: 'The label is a PDF of 4000 bytes.' }, { ...label, check: 'clock' });
  const before = report(label, { check: 'clock', mark: 'open', cause: 'It was not checked.' });
  expect(compare(now, before)).toEqual(now);
});

test('compare() reports a changed mark or text as a failure', () => {
  const now = report(
    { ...label, cause: 'The label is a picture.' },
    { check: 'clock', mark: 'warning', cause: 'No Date.' },
  );
  const before = report(label, { check: 'clock', mark: 'ok', cause: 'No Date.' });
  const { isUsable, findings } = compare(now, before);
  expect(isUsable).toBe(false);
  expect(findings.slice(2).map(({ cause }) => cause)).toEqual([
    'label: The label is a PDF of 3192 bytes. Now: The label is a picture.',
    'clock: No Date. Now: No Date.',
  ]);
});
