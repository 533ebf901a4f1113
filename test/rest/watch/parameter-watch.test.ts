import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { RestCall } from '../../../src/rest/call.ts';
import { PageTokenRefusedError, ParameterRefusedError, StatusError } from '../../../src/rest/errors.ts';
import {
  createParameterWatch,
  pageTokenIgnored,
  type SentParameters,
} from '../../../src/rest/watch/parameter-watch.ts';
import { parameterNames } from '../../fixtures/rest-service.ts';

const call: RestCall = { method: 'GET', path: '/v1/orders' };
const rowsOf = (count: number, status = 'NEW', name = 'Lucía') =>
  Array.from({ length: count }, () => ({ status, recipient: { firstName: name } }));

let nowMs = 1_000;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});

function createWatch() {
  const problems: { setting: string }[] = [];
  const known: string[] = [];
  const outside: [string, number][] = [];
  const watch = createParameterWatch(parameterNames, {
    onProblem: (name) => problems.push(name),
    onKnown: ({ setting }) => known.push(setting),
    onRowsOutside: (...counted) => outside.push(counted),
  });
  return {
    outside,
    known,
    tokens: watch.tokenWatch('orders'),
    settings: () => problems.map(({ setting }) => setting),
    wait(ms: number) {
      nowMs += ms;
    },
    check: (sent: SentParameters, rows: readonly unknown[], nextPageToken?: string) =>
      watch.check('orders', call, { pageSize: '100', ...sent }, rows, nextPageToken),
    refuse: (sent: SentParameters, message?: string, status = 400) =>
      watch.toListError(
        'orders',
        call,
        { pageSize: '100', ...sent },
        new StatusError(call, status, { fields: [], ...(message !== undefined && { message }) }),
      ),
  };
}

describe('a status filter', () => {
  test('removes and counts rows with another status, if they are few', () => {
    const { check, outside } = createWatch();
    const rows = [...rowsOf(5), ...rowsOf(2, 'READY')];
    expect(check({ status: 'NEW' }, rows)).toEqual(rowsOf(5));
    expect(check({ status: 'NEW' }, rowsOf(1, 'READY'))).toEqual([]);
    expect(outside).toEqual([
      ['orders', 2],
      ['orders', 1],
    ]);
  });

  test('causes an error that names STATUS_PARAMETER if REST ignores the filter', () => {
    const { check, settings } = createWatch();
    const rows = [...rowsOf(2), ...rowsOf(3, 'READY')];
    expect(() => check({ status: 'NEW,CONFIRMED' }, rows)).toThrow(
      'GET /v1/orders returned 5 rows, 3 of them with a status that was not requested. Check the setting STATUS_PARAMETER.',
    );
    expect(settings()).toEqual(['STATUS_PARAMETER']);
  });

  test('keeps rows without a valid status', () => {
    const { check } = createWatch();
    const rows = [{}, { status: null }, { status: 7 }];
    expect(check({ status: 'NEW' }, rows)).toEqual(rows);
  });
});

describe('a page size', () => {
  test('is reported each time that a page exceeds it', () => {
    const { check, settings } = createWatch();
    check({}, rowsOf(101));
    check({}, rowsOf(101));
    expect(settings()).toEqual(['PAGE_SIZE_PARAMETER', 'PAGE_SIZE_PARAMETER']);
  });

  test.each(['1000', '200'])(
    'is reported if two consecutive pages are equally short: %s rows requested',
    (pageSize) => {
      const { check, settings } = createWatch();
      check({ pageSize: '1000' }, rowsOf(50), 'next');
      check({ pageSize: '1000' }, rowsOf(49), 'next');
      check({ pageSize: '1000' }, rowsOf(50), 'next');
      expect(settings()).toEqual([]);
      check({ pageSize }, rowsOf(50), 'next');
      expect(settings()).toEqual(['PAGE_SIZE_PARAMETER']);
    },
  );

  test.each<[string, number, string | undefined, SentParameters]>([
    ['last pages', 30, undefined, {}],
    ['empty pages', 0, 'next', {}],
    ['full pages', 100, 'next', {}],
    ['filtered pages', 30, 'next', { status: 'NEW' }],
    ['searched pages', 30, 'next', { search: 'Lucía' }],
  ])('causes no report for %s', (_pages, count, nextPageToken, filter) => {
    const { check, settings } = createWatch();
    for (let page = 0; page < 3; page += 1) check(filter, rowsOf(count), nextPageToken);
    check({ ...filter, pageSize: '200' }, rowsOf(count), nextPageToken);
    expect(settings()).toEqual([]);
  });
});

describe('a search', () => {
  test('is reported if five rows do not contain its words', () => {
    const { check, settings } = createWatch();
    check({ search: 'Lucía' }, rowsOf(5, 'NEW', 'Pedro'));
    expect(settings()).toEqual(['SEARCH_PARAMETER']);
  });

  test.each([
    ['a match that ignores accents', 'lucia ortiz', 5, 'Lucía'],
    ['fewer than five rows', 'Ana', 4, 'Pedro'],
    ['a search text without words', '+', 5, 'Pedro'],
  ])('is not reported for %s', (_what, search, count, name) => {
    const { check, settings } = createWatch();
    check({ search }, rowsOf(count, 'NEW', name));
    expect(settings()).toEqual([]);
  });
});

const tokenStatuses = [400, 404, 409, 410, 412, 416, 422];

describe('the error of a rejected list call', () => {
  const sent = { pageToken: 'next', search: 'Ana' };

  test.each([
    ['names all parameters that were never accepted', undefined, 'PAGE_SIZE_PARAMETER, SEARCH_PARAMETER'],
    ['names the parameter that the REST service mentions', 'unknown parameter "search"', 'SEARCH_PARAMETER'],
  ])('%s', (_what, message, settings) => {
    const error = createWatch().refuse({ search: 'Ana' }, message);
    expect(error).toBeInstanceOf(ParameterRefusedError);
    expect((error as Error).message).toMatch(new RegExp(`^GET /v1/orders returned 400: .* ${settings}[.:]`));
  });

  test.each([400, 422])(
    'names PAGE_TOKEN_PARAMETER for a page token that REST has just sent: %i',
    (status) => {
      const { check, refuse, wait } = createWatch();
      check({}, rowsOf(1), 'next');
      wait(59_999);
      const error = refuse({ pageToken: 'next' }, undefined, status);
      expect(error).toBeInstanceOf(ParameterRefusedError);
      expect((error as Error).message).toMatch(/Check the setting PAGE_TOKEN_PARAMETER\.$/);
    },
  );

  test('is a PageTokenRefusedError for a page token that REST sent a minute ago', () => {
    const { check, refuse, wait } = createWatch();
    check({}, rowsOf(1), 'next');
    wait(60_001);
    expect(refuse({ pageToken: 'next' })).toBeInstanceOf(PageTokenRefusedError);
  });

  test('names the parameter that REST mentions beside the page token of a cursor', () => {
    const error = createWatch().refuse(sent, 'unknown parameter "search"');
    expect(error).toBeInstanceOf(ParameterRefusedError);
    expect((error as Error).message).toMatch(/Check the setting SEARCH_PARAMETER\. The REST service says: /);
  });

  test.each(tokenStatuses)('is a PageTokenRefusedError if the first call has a page token: %i', (status) => {
    for (const message of [undefined, 'page token has expired', 'invalid pageToken']) {
      const error = createWatch().refuse({ pageToken: 'next' }, message, status);
      expect(error).toBeInstanceOf(PageTokenRefusedError);
      expect((error as Error).message).toBe(
        `GET /v1/orders returned ${status}: The cursor is no longer valid. Start again without "after".${message === undefined ? '' : ` The REST service says: ${message}`}`,
      );
    }
  });

  test.each(tokenStatuses)('is a PageTokenRefusedError if all parameters were accepted: %i', (status) => {
    const { check, refuse } = createWatch();
    check(sent, rowsOf(1, 'NEW', 'Ana'));
    expect(refuse(sent, undefined, status)).toBeInstanceOf(PageTokenRefusedError);
  });

  test.each([
    ['a call without a page token', { search: 'Ana' }, undefined, 400],
    ['a call without a page token to an unknown path', {}, undefined, 404],
    ['a message about the search text', sent, 'search is too long', 400],
    ['the status 401', sent, undefined, 401],
    ['the status 403', sent, undefined, 403],
    ['the status 429', sent, undefined, 429],
    ['the status 503', sent, undefined, 503],
  ])('stays a StatusError for %s', (_what, parameters, message, status) => {
    const { check, refuse } = createWatch();
    check(sent, rowsOf(1, 'NEW', 'Ana'));
    const error = refuse(parameters, message, status);
    expect((error as Error).constructor).toBe(StatusError);
  });
});

describe('a name that REST seemed not to know', () => {
  type Watch = ReturnType<typeof createWatch>;

  test.each<[string, (watch: Watch) => unknown, (watch: Watch) => unknown]>([
    [
      'PAGE_SIZE_PARAMETER',
      ({ check }) => check({}, rowsOf(101)),
      ({ check }) => check({}, rowsOf(100), 'next'),
    ],
    [
      'PAGE_TOKEN_PARAMETER',
      ({ tokens }) => pageTokenIgnored(tokens, 'The list has no end.'),
      ({ tokens }) => tokens.followed(),
    ],
    [
      'STATUS_PARAMETER',
      ({ check }) => expect(() => check({ status: 'NEW' }, rowsOf(3, 'READY'))).toThrow('STATUS_PARAMETER'),
      ({ check }) => check({ status: 'NEW' }, rowsOf(3)),
    ],
    [
      'SEARCH_PARAMETER',
      ({ check }) => check({ search: 'Lucía' }, rowsOf(5, 'NEW', 'Pedro')),
      ({ check }) => check({ search: 'Lucía' }, rowsOf(5)),
    ],
    [
      'QUERY_PARAMETER',
      ({ check }) => check({ query: 'Lucía' }, rowsOf(5, 'NEW', 'Pedro')),
      ({ check }) => check({ query: 'Lucía' }, rowsOf(5)),
    ],
  ])('is reported as known after REST has used %s', (setting, ignore, use) => {
    const watch = createWatch();
    use(watch);
    expect(watch.known).toEqual([]);
    ignore(watch);
    expect([watch.settings(), watch.known]).toEqual([[setting], []]);
    use(watch);
    use(watch);
    expect([watch.settings(), watch.known]).toEqual([[setting], [setting]]);
  });
});
