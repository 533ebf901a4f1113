import { expect, test } from 'vitest';
import { createAskers } from '../../src/loaders/field-paths.ts';
import { type Asker, asking, pathsOf } from '../../src/rest/client/field-path.ts';

/** Who asks at this moment, as a call remembers it. */
const current = (): Asker => asking.getStore() ?? 'nobody';

test('a call is on behalf of all who asked for what it answers, and of nobody else', () => {
  const askers = createAskers();
  for (const [path, key] of [
    ['orders', 'a'],
    ['nodes', 'a'],
    ['order', 'b'],
    ['quote', 'c'],
  ] as const)
    asking.run(path, () => askers.note(key));
  expect(pathsOf(askers.onBehalf(['a', 'b', 'unasked'], current))).toEqual(['orders', 'nodes', 'order']);
});

test('those who ask later are behind it too, also through other loaders', () => {
  const [records, pages] = [createAskers(), createAskers()];
  asking.run('nodes.0', () => records.note('a'));
  const call = records.onBehalf(['a'], () => {
    pages.note('page');
    return pages.onBehalf(['page'], current);
  });
  expect(pathsOf(call)).toEqual(['nodes.0']);
  asking.run('nodes.1', () => records.note('a'));
  asking.run('list', () => pages.note('page'));
  asking.run('nodes.0', () => pages.note('page'));
  expect(pathsOf(call)).toEqual(['nodes.*', 'list']);
});

test('those who ask for it anew are behind the new call alone', () => {
  const askers = createAskers();
  const callsFor = (path: string) => {
    for (const key of ['a', 'b']) asking.run(path, () => askers.note(key));
    return ['a', 'b'].map((key) => askers.onBehalf([key], current));
  };
  const first = callsFor('first');
  askers.forget('a');
  const second = callsFor('second');
  askers.forget();
  const third = callsFor('third');
  expect([first, second, third].map((calls) => calls.map(pathsOf))).toEqual([
    [['first'], ['first', 'second']],
    [['second'], ['first', 'second']],
    [['third'], ['third']],
  ]);
});

test('without a field that asks by its path nothing is remembered', () => {
  const askers = createAskers();
  askers.note('a');
  expect(askers.onBehalf(['a'], () => asking.getStore())).toBeUndefined();
});
