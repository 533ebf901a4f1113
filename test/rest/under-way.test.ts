import { expect, test } from 'vitest';
import { type Shareable, UnderWay } from '../../src/rest/under-way.ts';

/** Something under way, and how often its key was asked for. */
class Work implements Shareable {
  readonly tenantId;
  readonly #key: string | undefined;
  keysMade = 0;

  constructor(key: string | undefined, tenantId = 'ana') {
    this.tenantId = tenantId;
    this.#key = key;
  }

  get key() {
    this.keysMade += 1;
    return this.#key;
  }
}

test('what is equal is found while it is under way, and of no other tenant', () => {
  const underWay = new UnderWay<Work>();
  const first = new Work('a');
  expect(underWay.equalTo(first)).toBeUndefined();
  underWay.add(first);
  expect(underWay.equalTo(new Work('a'))).toBe(first);
  expect(underWay.equalTo(new Work('b'))).toBeUndefined();
  expect(underWay.equalTo(new Work('a', 'eva'))).toBeUndefined();
  underWay.remove(first);
  expect(underWay.equalTo(new Work('a'))).toBeUndefined();
});

test('what is alone needs no key', () => {
  const underWay = new UnderWay<Work>();
  const works = [new Work('a'), new Work('b'), new Work('a', 'eva')];
  const [first, second, others] = works as [Work, Work, Work];
  for (const work of [first, others]) {
    expect(underWay.equalTo(work)).toBeUndefined();
    underWay.add(work);
  }
  underWay.remove(first);
  underWay.add(second);
  underWay.remove(second);
  underWay.remove(others);
  expect(works.map(({ keysMade }) => keysMade)).toEqual([0, 0, 0]);
});

test('each of several is found, until it ends', () => {
  const underWay = new UnderWay<Work>();
  const works = ['a', 'b', 'c'].map((key) => new Work(key));
  for (const work of works) underWay.add(work);
  const found = () => ['a', 'b', 'c'].map((key) => underWay.equalTo(new Work(key)));
  expect(found()).toEqual(works);
  const [first, second, third] = works as [Work, Work, Work];
  underWay.remove(first);
  expect(found()).toEqual([undefined, second, third]);
  underWay.remove(third);
  underWay.remove(second);
  expect(found()).toEqual([undefined, undefined, undefined]);
  underWay.add(first);
  expect(underWay.equalTo(new Work('a'))).toBe(first);
});

test.each([[[]], [['b']]])(
  'one that has taken the place of another stays when that ends, beside %j',
  (beside) => {
    const underWay = new UnderWay<Work>();
    const [left, successor] = [new Work('a'), new Work('a')];
    underWay.add(left);
    for (const key of beside) underWay.add(new Work(key));
    underWay.add(successor);
    underWay.remove(left);
    expect(underWay.equalTo(new Work('a'))).toBe(successor);
    underWay.remove(successor);
    expect(underWay.equalTo(new Work('a'))).toBeUndefined();
  },
);

test('what has no key is equal to nothing, and keeps nothing else from being found', () => {
  const underWay = new UnderWay<Work>();
  const unlike = [new Work(undefined), new Work(undefined)];
  for (const work of unlike) underWay.add(work);
  expect(underWay.equalTo(new Work(undefined))).toBeUndefined();
  const like = new Work('a');
  underWay.add(like);
  for (const work of unlike) underWay.remove(work);
  expect(underWay.equalTo(new Work('a'))).toBe(like);
});
