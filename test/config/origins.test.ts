import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const startOf = (value: string) =>
  'The environment has invalid settings:\n' +
  '  CORS_ORIGINS: expected a comma-separated list of origins such as https://shop.example or capacitor://localhost, ' +
  `but got ${JSON.stringify(value)}. `;

describe('CORS_ORIGINS', () => {
  test.each([
    'https://shop.example',
    'https://shop.example:8443',
    'http://localhost:3000',
    'http://[::1]:3000',
    'https://xn--caf-dma.example',
    // Packaged apps: Capacitor, Ionic, Tauri, Electron, extensions of browsers.
    'capacitor://localhost',
    'ionic://localhost',
    'https://localhost',
    'http://localhost',
    'tauri://localhost',
    'http://tauri.localhost',
    'https://tauri.localhost',
    'app://.',
    'app://-',
    'app://obsidian.md',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://8c2c9c0e-7f0b-4c8e-9d1b-0a6a4f9f3c11',
    'safari-web-extension://8C2C9C0E-7F0B-4C8E-9D1B-0A6A4F9F3C11',
    'vscode-webview://1abc',
    'com.example.app://main:1',
  ])('takes the origin %s', (origin) => {
    expect(readConfig({ CORS_ORIGINS: origin }).corsOrigins).toEqual([origin]);
    expect(readConfig({ CORS_ORIGINS: `https://a.example, ${origin}` }).corsOrigins).toEqual([
      'https://a.example',
      origin,
    ]);
  });

  test.each([
    ['https://shop.example/', '"https://shop.example/" ends with a slash. Write "https://shop.example".'],
    ['capacitor://localhost/', '"capacitor://localhost/" ends with a slash. Write "capacitor://localhost".'],
    ['https://shop.example/cart', '"https://shop.example/cart" has a path. Write "https://shop.example".'],
    ['app://main/index.html', '"app://main/index.html" has a path. Write "app://main".'],
    ['https://shop.example?a=1', '"https://shop.example?a=1" has a path. Write "https://shop.example".'],
    ['shop.example', '"shop.example" has no scheme. Write "https://shop.example".'],
    ['//shop.example/', '"//shop.example/" has no scheme. Write "https://shop.example".'],
    ['localhost:3000', '"localhost:3000" has no scheme. Write "http://localhost:3000".'],
    ['127.0.0.1:5173', '"127.0.0.1:5173" has no scheme. Write "http://127.0.0.1:5173".'],
    ['*', '"*" has a wildcard, and any page could match it. List each origin.'],
    [
      'https://*.example',
      '"https://*.example" has a wildcard, and any page could match it. List each origin.',
    ],
    [
      'chrome-extension://*',
      '"chrome-extension://*" has a wildcard, and any page could match it. List each origin.',
    ],
    [
      'https://shop.example:443',
      '"https://shop.example:443" has the default port, which browsers omit. Write "https://shop.example".',
    ],
    [
      'http://localhost:80',
      '"http://localhost:80" has the default port, which browsers omit. Write "http://localhost".',
    ],
    [
      'HTTPS://Shop.example',
      '"HTTPS://Shop.example" has another form than browsers send. Write "https://shop.example".',
    ],
    [
      'Ionic://localhost',
      '"Ionic://localhost" has another form than browsers send. Write "ionic://localhost".',
    ],
    [
      'https://café.example',
      '"https://café.example" has another form than browsers send. Write "https://xn--caf-dma.example".',
    ],
    [
      'file:///android_asset',
      '"file:///android_asset" has a scheme whose pages have no origin of their own.',
    ],
    [
      'data:text/html,x',
      '"data:text/html" has a scheme whose pages have no origin of their own. "x" has no scheme. Write "https://x".',
    ],
    ['https://', '"https://" is not an origin. Write a scheme, "://" and a host.'],
    [
      'https://a.example:99999',
      '"https://a.example:99999" is not an origin. Write a scheme, "://" and a host.',
    ],
    ['https://a.example,', 'A comma has no origin before or after it. Remove the comma.'],
    [
      'https://a.example https://b.example',
      '"https://a.example https://b.example" is not an origin. Separate origins by commas, without quotes and without blanks in an origin.',
    ],
    [
      "'https://a.example'",
      `"'https://a.example'" is not an origin. Separate origins by commas, without quotes and without blanks in an origin.`,
    ],
    [
      'null',
      '"null" is the origin of every local file and sandboxed frame, so any page could send it. Give the page an address of its own.',
    ],
  ])('refuses %s and says what to write', (value, advice) => {
    expect(() => readConfig({ CORS_ORIGINS: value })).toThrow(`${startOf(value)}${advice}`);
  });

  test('says what is wrong with each origin, in one message', () => {
    const value = 'https://a.example/,https://b.example,shop.example,null';
    expect(() => readConfig({ CORS_ORIGINS: value })).toThrow(
      `${startOf(value)}"https://a.example/" ends with a slash. Write "https://a.example". ` +
        '"shop.example" has no scheme. Write "https://shop.example". "null" is the origin of ',
    );
  });

  test('does not show the credentials of an origin', () => {
    expect(() => readConfig({ CORS_ORIGINS: 'https://me:secret@shop.example' })).toThrow(
      startOf('https://…@shop.example') +
        '"https://…@shop.example" has credentials. Write "https://shop.example".',
    );
  });
});
