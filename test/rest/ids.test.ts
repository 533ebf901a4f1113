import { describe, expect, test } from 'vitest';
import { BadInputError } from '../../src/rest/errors.ts';
import { validIds } from '../fixtures/identifiers.ts';
import { answerAsPromised, errorOf, startRestClient } from '../fixtures/rest-service.ts';
import { collectionOfId, endpoints, rowsWithId } from './endpoints.ts';

describe('an id in a path', () => {
  const unfit: [string, string][] = [
    ['two dots', '..'],
    ['one dot', '.'],
    ['a way out of the collection', '../organizations/mine'],
    ['nothing', ''],
    ['10 KB', 'a'.repeat(10_240)],
    ['257 characters', 'a'.repeat(257)],
    ['NUL', 'a\0'],
    ['CRLF', 'a\r\nhost: elsewhere'],
    ['a newline at the end', 'a\n'],
    ['a lone surrogate', 'a\ud800'],
    ['a deeper path', 'orders/a/label'],
    ['a slash before it', '/a'],
    ['a slash after it', 'a/'],
  ];

  test('is tested at every position of every path', () => {
    const untried = endpoints.filter(({ method, line }) => {
      const places = line.match(/\/\d+(?=[/?]|$)/g) ?? [];
      return places.length > rowsWithId.filter((row) => row.method === method).length;
    });
    const advice = 'test/rest/endpoints.ts needs a row with `{id}` in its line for each id in this path';
    expect(
      untried.map(({ line }) => line),
      advice,
    ).toEqual([]);
  });

  test.each(rowsWithId)('is rejected without a request if it is invalid: $line', async ({ call, line }) => {
    await using rest = await startRestClient(answerAsPromised);
    const ofAnother = collectionOfId(line) === 'couriers' ? 'orders/a' : 'couriers/a';
    for (const [what, id] of [...unfit, ['the name of another collection', ofAnother] as const]) {
      const error = await errorOf(call(rest.api, rest.callContext(), id));
      expect(error, what).toBeInstanceOf(BadInputError);
      expect(error.message.length, what).toBeLessThan(350);
      expect(error.message, what).not.toMatch(/[\0\r\n\ud800-\udfff]/);
    }
    expect(rest.service.requests).toEqual([]);
    expect(rest.service.connections).toBe(0);
  });

  test('is sent if it has 1 or 256 characters', async () => {
    await using rest = await startRestClient(answerAsPromised);
    for (const id of ['a', '0', `Z${'~'.repeat(255)}`]) await rest.api.getOrder(id, rest.callContext());
    expect(rest.service.requests).toHaveLength(3);
  });

  test.each(validIds)('is percent-encoded: $0 becomes $1', async (id, encoded) => {
    await using rest = await startRestClient(answerAsPromised);
    for (const { call } of rowsWithId) await call(rest.api, rest.callContext(), id).catch(() => {});
    const lines = rest.service.requests.map(({ line }) => line);
    expect(lines).toEqual(rowsWithId.map(({ line }) => line.replace('{id}', () => encoded)));
  });
});
