import { expect, test } from 'vitest';
import {
  createFieldPathLog,
  currentFieldPath,
  type FieldPaths,
  pathsOf,
} from '../../src/rest/client/field-path.ts';

/** Who asks at this moment, as a call remembers it. */
const current = (): FieldPaths => currentFieldPath.getStore() ?? 'nobody';

test('a call is on behalf of all who asked for what it answers, and of nobody else', () => {
  const fieldPaths = createFieldPathLog();
  for (const [path, key] of [
    ['orders', 'a'],
    ['nodes', 'a'],
    ['order', 'b'],
    ['quote', 'c'],
  ] as const)
    currentFieldPath.run(path, () => fieldPaths.note(key));
  expect(pathsOf(fieldPaths.runForKeys(['a', 'b', 'unasked'], current))).toEqual([
    'orders',
    'nodes',
    'order',
  ]);
});

test('those who ask later are behind it too, also through other loaders', () => {
  const [records, pages] = [createFieldPathLog(), createFieldPathLog()];
  currentFieldPath.run('nodes.0', () => records.note('a'));
  const call = records.runForKeys(['a'], () => {
    pages.note('page');
    return pages.runForKeys(['page'], current);
  });
  expect(pathsOf(call)).toEqual(['nodes.0']);
  currentFieldPath.run('nodes.1', () => records.note('a'));
  currentFieldPath.run('list', () => pages.note('page'));
  currentFieldPath.run('nodes.0', () => pages.note('page'));
  expect(pathsOf(call)).toEqual(['nodes.*', 'list']);
});

test('after forget, later field paths belong to the new call alone', () => {
  const fieldPaths = createFieldPathLog();
  const callsFor = (path: string) => {
    for (const key of ['a', 'b']) currentFieldPath.run(path, () => fieldPaths.note(key));
    return ['a', 'b'].map((key) => fieldPaths.runForKeys([key], current));
  };
  const first = callsFor('first');
  fieldPaths.forget('a');
  const second = callsFor('second');
  fieldPaths.forget();
  const third = callsFor('third');
  expect([first, second, third].map((calls) => calls.map(pathsOf))).toEqual([
    [['first'], ['first', 'second']],
    [['second'], ['first', 'second']],
    [['third'], ['third']],
  ]);
});

test('without a field that asks by its path nothing is remembered', () => {
  const fieldPaths = createFieldPathLog();
  fieldPaths.note('a');
  expect(fieldPaths.runForKeys(['a'], () => currentFieldPath.getStore())).toBeUndefined();
});
