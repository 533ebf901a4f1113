import { describe, expect, test } from 'vitest';
import { quoteForMessage } from '../../src/base/quote-for-message.ts';
import { BadInputError } from '../../src/rest/errors.ts';
import { bareIdentifier, isResourceName, resourceName } from '../../src/rest/resource-name.ts';

describe('resourceName', () => {
  test.each([
    ['7', 'orders/7'],
    ['orders/7', 'orders/7'],
    ['orders', 'orders/orders'],
    ['A.b_c~d-e', 'orders/A.b_c~d-e'],
    ['a..', 'orders/a..'],
    ['_V1St', 'orders/_V1St'],
    ['CO:05001', 'orders/CO:05001'],
    ['é', 'orders/é'],
    ['...', 'orders/...'],
    [`a${'1'.repeat(255)}`, `orders/a${'1'.repeat(255)}`],
    ['😀'.repeat(256), `orders/${'😀'.repeat(256)}`],
  ])('turns $0 into $1', (id, name) => {
    expect(resourceName('orders', id)).toBe(name);
    expect(bareIdentifier('orders', id)).toBe(name.replace('orders/', ''));
  });

  test.each([
    ['shipments/7', 'Expected an id of the form "orders/<identifier>", but got "shipments/7".'],
    ['Orders/7', 'Expected an id of the form "orders/<identifier>", but got "Orders/7".'],
    ['/7', 'Expected an id of the form "orders/<identifier>", but got "/7".'],
    [
      'orders/',
      'Expected an id of orders, but got "orders/": an identifier has 1 to 256 characters without slashes or ' +
        'control characters, and is not "." or "..".',
    ],
    [
      'orders/../organizations/mine',
      'Expected an id of orders, but got "orders/../organizations/mine": an identifier has 1 to 256 characters ' +
        'without slashes or control characters, and is not "." or "..".',
    ],
  ])('rejects %s with a reason', (id, message) => {
    expect(() => resourceName('orders', id)).toThrow(new BadInputError(message));
  });

  test.each(['.', '..', '', 'a/b', 'a\n', '\ta', 'a\0', 'a\u0085', 'a\ud800', '😀'.repeat(257)])(
    'rejects %j',
    (id) => {
      expect(() => resourceName('orders', id)).toThrow(BadInputError);
    },
  );
});

describe('isResourceName', () => {
  test.each<[unknown, boolean]>([
    ['orders/7', true],
    ['7', false],
    ['shipments/7', false],
    ['orders/', false],
    ['orders/a/b', false],
    ['orders/..', false],
    ['orders/7\n', false],
    [7, false],
    [null, false],
    [undefined, false],
    [['orders/7'], false],
  ])('isResourceName("orders", %j) is %s', (value, expected) => {
    expect(isResourceName('orders', value)).toBe(expected);
  });
});

test.each([
  ['a', '"a"'],
  ['a"b\\c\0\r\n', '"a\\"b\\\\c\\u0000\\r\\n"'],
  ['\ud800', '"\\ud800"'],
  ['a\u0085b\u2028', '"a\\u0085b\\u2028"'],
  ['a'.repeat(65), `"${'a'.repeat(64)}…"`],
])('an error message quotes %j as %s', (id, expected) => {
  expect(quoteForMessage(id)).toBe(expected);
});
