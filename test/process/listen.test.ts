import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { explainListenError } from '../../src/process/listen.ts';

const failed = (code: string) => Object.assign(new Error(`listen ${code}`), { code });

test.each([
  [
    'EADDRINUSE',
    'PORT',
    4000,
    'PORT: port 4000 of ::1 is in use. Stop the other process, or set PORT to another port.',
  ],
  [
    'EACCES',
    'PORT',
    80,
    'PORT: this user may not listen on port 80. Set PORT to a port from 1024 on, such as 4000.',
  ],
  [
    'EACCES',
    'METRICS_PORT',
    6000,
    'METRICS_PORT: this user may not listen on port 6000. Set METRICS_PORT to another port.',
  ],
  ...['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EAI_AGAIN', 'EINVAL', 'ENOTFOUND'].map(
    (code): [string, string, number, string] => [
      code,
      'PORT',
      4000,
      'HOST: "::1" is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for every IPv4 address.',
    ],
  ),
  ['EMFILE', 'PORT', 4000, 'HOST and PORT: expected a free address, but got ::1:4000. listen EMFILE.'],
])('a server that cannot listen names the setting: %s', (code, variable, port, message) => {
  const error = failed(code);
  const explained = explainListenError(variable, '::1', port, error);
  expect(explained).toBeInstanceOf(ConfigError);
  expect([explained.message, explained.cause]).toEqual([message, error]);
});
