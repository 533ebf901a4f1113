import { expect, test } from 'vitest';
import { PassingMap } from '../../src/rest/passing-map.ts';

test('holds what is there, and nothing that has gone, however many come and go', () => {
  const map = new PassingMap<number, string>();
  map.set(1e6, 'stays');
  for (let key = 0; key < 10_000; key += 1) {
    map.set(key, `value ${key}`);
    map.delete(key - 500);
  }
  expect([map.get(1e6), map.get(9_499), map.get(9_500)]).toEqual(['stays', undefined, 'value 9500']);
  expect([...map.values()]).toEqual([
    'stays',
    ...Array.from({ length: 500 }, (_, index) => `value ${9_500 + index}`),
  ]);
  map.delete(1e6);
  expect(map.get(1e6)).toBeUndefined();
});
