import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isInputObjectType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { settings } from '../src/config/config.ts';
import { limitSettings } from '../src/config/limits.ts';
import { settingPrefixes } from '../src/config/unknown-settings.ts';
import { schema } from '../src/graph/schema.ts';
import { fixedLimits } from '../src/server/limits/limits.ts';
import { createMetrics } from '../src/telemetry/metrics.ts';
import { recordedLog } from './fixtures/recorded-log.ts';
import { startWaybill } from './harness.ts';

const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The text below a heading, up to the next one of its rank or above. */
function section(heading: string): string {
  const [, ...rest] = readme.split(/^(?=#{1,2} )/m).flatMap((part) => {
    return part.startsWith(`## ${heading}\n`) ? ['', part] : [];
  });
  return rest.join('');
}

/** The cells of a section's table rows, without its head. */
function rows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| ---'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
}

/** What the group of a pattern matches in the files of a glob below the root. */
function matches(glob: string, pattern: RegExp): string[] {
  return globSync(glob, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, match = '']) => match),
  );
}

const codeSpans = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);

describe('the README', () => {
  test('its table of settings is the code', () => {
    const expected = Object.values(settings).map(({ variable, defaultValue, expected, meaning }) => [
      `\`${variable}\``,
      defaultValue === undefined ? '' : `\`${defaultValue}\``,
      expected,
      meaning,
    ]);
    expect(rows(section('Configuration')).slice(1)).toEqual(expected);
  });

  test('it names each beginning that only settings have', () => {
    const [text = ''] = section('Configuration').split('\n| variable');
    const named = codeSpans(text).filter((span) => span.endsWith('_'));
    expect(named).toEqual([...settingPrefixes, 'OTEL_']);
  });

  test('its settings of limits are named as refusals name them', () => {
    const variables = Object.keys(limitSettings).map(
      (limit) => `MAX_${limit.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
    );
    expect(Object.values(limitSettings).map(({ variable }) => variable)).toEqual(variables);
  });

  test('its table of fixed limits is the code', () => {
    const inTable = rows(section('Limits')).slice(1);
    expect(inTable.map(([name, allowed]) => [name, Number(allowed)])).toEqual(
      Object.entries(fixedLimits).map(([name, allowed]) => [`\`${name}\``, allowed]),
    );
  });

  test('its example of what a query costs is what the sandbox answers, and its table has every field of it', async () => {
    const text = section('What a query costs');
    const [query = '', example = ''] = ['graphql', 'json'].map(
      (language) => text.split(`\`\`\`${language}\n`)[1]?.split('```')[0],
    );
    const { requests, ...sums } = JSON.parse(example);
    await using waybill = await startWaybill({ SHOW_COST: 'yes' });
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${waybill.sandbox.tokens.first}`,
      },
      body: JSON.stringify({ query }),
    });
    const { upstream } = (await response.json()).extensions;
    const times = { startMs: expect.any(Number), durationMs: expect.any(Number) };
    expect(upstream).toEqual({
      ...sums,
      requests: requests.map((request: object) => ({ ...request, ...times })),
    });
    const fields = new Set([...Object.keys(upstream), ...Object.keys(upstream.requests[0])]);
    const inTable = rows(text)
      .slice(1)
      .flatMap(([names = '']) => codeSpans(names));
    expect(inTable.sort()).toEqual([...fields].sort());
  });

  test('its example of a line in the log has the fields of one, and its table has every field of it', async () => {
    const text = section('Logs');
    const example = JSON.parse(text.split('```json\n')[1]?.split('```')[0] ?? '');
    const { log, lines } = recordedLog();
    await using waybill = await startWaybill({}, { log });
    waybill.sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 503 });
    await waybill.ask(`query ${example.operation} { organization { id } }`);
    expect(lines().map((line) => ['time', ...Object.keys(line)].sort())).toEqual([
      Object.keys(example).sort(),
    ]);
    const inTable = rows(text)
      .slice(1)
      .flatMap(([names = '']) => codeSpans(names));
    const { level, time, msg, ...fields } = example;
    expect(inTable.sort()).toEqual([...Object.keys(fields), 'joined', 'aborted'].sort());
  });

  test('its table of metrics is what is counted', async () => {
    const metrics = createMetrics({ process: false });
    metrics.showCallsWaiting(() => 0);
    metrics.showOpenCircuits(() => []);
    const { body } = await metrics.page();
    const counted = [...body.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [
      `\`${name}\``,
      help,
    ]);
    expect(rows(section('Metrics and traces')).slice(1)).toEqual(counted);
  });

  test('its table of error codes is the code', () => {
    const inCode = matches(
      'src/server/**/*.ts',
      /'(?!ERR_|HPE_)([A-Z]+(?:_[A-Z]+)+|CONFLICT|FORBIDDEN|OVERLOADED|UNAUTHENTICATED)'/g,
    );
    // Yoga's own, as it writes them: `code: 'X'`, `code ||= 'X'` and `['code'] ||= 'X'`.
    const ofYoga = matches(
      'node_modules/graphql-yoga/esm/**/*.js',
      /\bcode(?:'\])?(?::| \|\|=) '([A-Z_]+)'/g,
    );
    expect(ofYoga).toEqual(expect.arrayContaining(['BAD_REQUEST', 'GRAPHQL_PARSE_FAILED']));
    // Its own limit of bodies is off.
    const ofYogaHere = ofYoga.filter((code) => code !== 'REQUEST_ENTITY_TOO_LARGE');
    const inReadme = rows(section('Errors'))
      .slice(1)
      .flatMap(([codes = '']) => codeSpans(codes));
    expect(inReadme.sort()).toEqual([...new Set([...inCode, ...ofYogaHere])].sort());
  });

  test('each field that its tables name is in the schema', () => {
    const named = codeSpans(section('From REST to GraphQL')).filter((span) =>
      /^[A-Z][A-Za-z]+\.[a-z]\w+$/.test(span),
    );
    const missing = named.filter((span) => {
      const [typeName = '', fieldName = ''] = span.split('.');
      const type = schema.getType(typeName);
      return !((isObjectType(type) || isInputObjectType(type)) && fieldName in type.getFields());
    });
    // What is left are REST's own names, in the first column.
    const restNames = rows(section('From REST to GraphQL')).flatMap(([first = '']) => codeSpans(first));
    expect(missing.filter((span) => !restNames.includes(span))).toEqual([]);
  });

  test('its table of what a mutation answers names every error that a result has', () => {
    const errors = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'UserError'),
    );
    const inReadme = rows(section('Writing'))
      .slice(1)
      .flatMap(([member = '']) => codeSpans(member));
    expect(inReadme.sort()).toEqual(errors.map(({ name }) => name).sort());
  });

  test('each endpoint of the REST client is in its table, and no other', () => {
    const source = readFileSync(join(root, 'src/rest/api.ts'), 'utf8');
    const endpoints = rows(section('From REST to GraphQL')).flatMap(([first = '']) =>
      codeSpans(first).filter((span) => /^(GET|POST|PATCH) /.test(span)),
    );
    expect(new Set(endpoints).size).toBe(18);
    expect(source.match(/^ {2}\w+\($|^ {2}\w+\(.*callContext: CallContext\): Promise/gm)).toHaveLength(18);
  });

  test('each npm command that it names is one', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
  });

  test('each file that it names is there', () => {
    const named = codeSpans(readme).filter(
      (span) => /^src\/[\w/.-]+\.ts$/.test(span) && !span.includes('parcel-size'),
    );
    expect(named.filter((file) => readFileSync(join(root, file)).length === 0)).toEqual([]);
  });
});
