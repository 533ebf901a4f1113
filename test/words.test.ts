import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/**
 * Words that a reader would have to learn for this project alone, and what to say instead. A name in camel case is found
 * wherever it is part of another name. All other words are found in any case, also when a comment breaks between them.
 */
const words: Record<string, string> = {
  flight: 'pending request, or shared request',
  passenger: 'waiter',
  disembark: 'unsubscribe',
  told: 'reported, or sent',
  hearer: 'response handler',
  whereabouts: 'hit depth',
  putOff: 'defer',
  'put off': 'deferred',
  anew: 'again',
  'in vain': 'without result',
  whoever: 'a noun, such as the client or the caller',
  'left alone': 'skipped, or not used',
  LeftAlone: 'backOff, or isPaused',
  'ahead of the ask': 'prefetched',
  aheadOfAsk: 'prefetch',
  givenUp: 'aborted',
  givingUp: 'abort',
  askers: 'field paths',
  ledger: 'call log',
  isBelowBlank: 'isBelowNull',
  Begun: 'started',
  standardLimits: 'defaultLimits',
  standardAdmission: 'defaultLoadShedding',
  standardMax: 'defaultMax',
  standardBody: 'defaultBody',
  standardListener: 'defaultListener',
  standardLoading: 'defaultLoading',
  WellAddressed: 'a name that says which path or method is expected',
  crew: 'worker pool',
  callInTurn: 'executeCall',
  inTurn: 'queued',
  'under way': 'running, pending, or in progress',
};

/** These names of files are the field's own terms. */
const fieldTerms = /\b(?:in|single|shared-in)-flight(?:-requests)?\.(?:test\.)?(?:ts|md)\b/g;

/** Texts of errors that clients know already. They change with the next text of their error. */
const errorTexts: Record<string, RegExp> = {
  'src/writes/idempotency.ts': /'done anew, /,
};

const patterns = Object.entries(words).map(([word, instead]) => ({
  word,
  instead,
  pattern: patternOf(word),
}));

function patternOf(word: string): RegExp {
  if (/[A-Z]/.test(word)) return new RegExp(word, 'g');
  const alone = `\\b${word.replaceAll(' ', '[\\s*/]+')}s?\\b`;
  // "inFlight" is the field's own term.
  if (word.includes(' ') || word === 'flight') return new RegExp(alone, 'gi');
  const [first = '', ...rest] = word;
  const camel = `${first.toUpperCase()}${rest.join('')}`;
  return new RegExp(
    `\\b(?:${word}|${camel})s?\\b|(?<![A-Za-z])${word}(?=[A-Z_])|(?<=[a-z_])${camel}(?![a-z])`,
    'g',
  );
}

/** What a text says in words of the list, each with its line and what to say instead. */
function findingsIn(file: string, text: string): string[] {
  const blank = (part: string) => ' '.repeat(part.length);
  const searched = text.replace(fieldTerms, blank).replace(errorTexts[file] ?? /$^/, blank);
  return patterns.flatMap(({ word, instead, pattern }) =>
    [...searched.matchAll(pattern)].map(({ index }) => {
      const line = searched.slice(0, index).split('\n').length;
      return `${file}:${line} has "${word}". The term of the field is: ${instead}.`;
    }),
  );
}

const files = globSync(['src/**/*.*', 'README.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: root })
  .filter((file) => !file.startsWith('src/sandbox/'))
  .sort();

test('code and pages use the terms of the field', () => {
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/decisions/README.md', 'src/main.ts']));
  const findings = files.flatMap((file) => [
    ...findingsIn(file, file),
    ...findingsIn(file, readFileSync(join(root, file), 'utf8')),
  ]);
  expect(findings).toEqual([]);
});

test.each([
  ['a line that was put off', 'put off'],
  ['what is under\n   * way', 'under way'],
  ['Flights of a tenant', 'flight'],
  ['a single-flight request', 'flight'],
  ['const hasBegun = true;', 'Begun'],
  ['function createCrew() {}', 'crew'],
  ['const toldAt = 1;', 'told'],
])('%j is reported for the word "%s"', (text, word) => {
  expect(findingsIn('a.ts', text)).toEqual([expect.stringContaining(`a.ts:1 has "${word}"`)]);
});

test.each([
  ["import { InFlight } from '../../concurrency/in-flight.ts';"],
  ['waybill_requests_in_flight'],
  ['(docs/decisions/0008-shared-in-flight-requests.md)'],
])('%j is not reported', (text) => {
  expect(findingsIn('a.ts', text)).toEqual([]);
});

test.each(globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'src/**/*.md'], { cwd: root }))(
  'the lines of %s are at most 120 characters wide',
  (page) => {
    let isCode = false;
    const wide = readFileSync(join(root, page), 'utf8')
      .split('\n')
      .map((line, index) => ({ line, number: index + 1 }))
      .filter(({ line }) => {
        if (line.trimStart().startsWith('```')) isCode = !isCode;
        // A row of a table is one line.
        return !isCode && line.length > 120 && !line.trimStart().startsWith('|');
      });
    expect(wide.map(({ number }) => number)).toEqual([]);
  },
);
