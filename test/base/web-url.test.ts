import { expect, test } from 'vitest';
import { isWebUrl } from '../../src/base/web-url.ts';

test.each([
  'https://shop.example/orders/1',
  'HTTP://shop.example',
  'http://[::1]:8080/a?b=c#d',
  'https://café.example',
])('a URL of http or https is valid: %s', (url) => {
  expect(isWebUrl(url)).toBe(true);
});

test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'JavaScript://shop.example/%0Aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'ftp://shop.example/1',
  'file:///etc/passwd',
  'mailto:ines@example.com',
  'blob:https://shop.example/1',
  'https:orders/1',
  'https://',
  'http://a b',
  '//shop.example/1',
  '/orders/1',
  '',
  7,
  null,
])('any other value is invalid: %j', (value) => {
  expect(isWebUrl(value)).toBe(false);
});
