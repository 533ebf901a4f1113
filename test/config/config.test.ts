import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, settingGroups, settings } from '../../src/config/config.ts';

function faultsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('expected a ConfigError, but the settings are accepted');
}

const defaults = {
  port: 4000,
  host: '127.0.0.1',
  stateFile: undefined,
  publicUrl: undefined,
  showCost: true,
  logLevel: 'info',
  corsOrigins: undefined,
  compressResponses: true,
  graphqlRequestsAtOnce: 10_000,
  maxConnections: 10_000,
  keepAliveTimeoutMs: 65_000,
  drainWaitMs: 5_000,
  drainGraceMs: 25_000,
  upstreamUrl: undefined,
  sandboxFile: undefined,
  upstreamConnections: 64,
  upstreamTimeoutMs: 10_000,
  upstreamRetries: 2,
  upstreamCompression: false,
  proxy: undefined,
  parameterNames: {
    pageSize: 'pageSize',
    pageToken: 'pageToken',
    status: 'status',
    search: 'search',
    query: 'query',
  },
  operationsFile: undefined,
  schemaAccess: 'public',
  currency: 'COP',
  operationTimeoutMs: 30_000,
  maxNodes: 3_000,
  readsPerOperation: 250,
  pointsPerSecond: 0,
  referenceMs: 60_000,
  listsForBatches: true,
  liveIntervalMs: 2_000,
  metrics: true,
  metricsPort: undefined,
  tracing: false,
};

describe('readConfig', () => {
  test('returns the defaults if no variable is set', () => {
    expect(readConfig({})).toEqual(defaults);
  });

  test.each<[Record<string, string>, boolean]>([
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector.example/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example' }, false],
    [{ OTEL_TRACES_EXPORTER: 'console' }, false],
    [{ OTEL_SDK_DISABLED: 'True', OTEL_TRACES_EXPORTER: 'otlp' }, false],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, false],
  ])('with %j sets tracing to %s', (environment, isOn) => {
    expect(readConfig(environment)).toEqual({ ...defaults, tracing: isOn });
  });

  test.each([
    [{}, true],
    [{ UPSTREAM_URL: 'https://rest.example' }, false],
    [{ UPSTREAM_URL: 'https://rest.example', METRICS_PORT: '0' }, true],
    [{ UPSTREAM_URL: 'https://rest.example', METRICS: 'yes' }, true],
    [{ METRICS: 'no' }, false],
  ])('with %j sets metrics to %s', (environment, isOn) => {
    expect(readConfig(environment).metrics).toBe(isOn);
  });

  test('treats an empty variable as absent', () => {
    const empty = Object.values(settings).map(({ variable }) => [variable, '']);
    expect(readConfig(Object.fromEntries(empty))).toEqual(defaults);
  });

  test('ignores variables of other programs', () => {
    expect(readConfig({ PATH: '/usr/bin', __proto__: 'x', CURRENCIES: 'x' })).toEqual(defaults);
  });

  test.each([
    // Too short to tell a typo from another name.
    'PORTS',
    'SORT',
    'WORKER',
    // Kubernetes sets these for a service called "upstream".
    'UPSTREAM_PORT',
    'UPSTREAM_PORT_80_TCP_ADDR',
    'UPSTREAM_SERVICE_HOST',
    'UPSTREAM_SERVICE_PORT_HTTP',
    'METRIC_PORT',
    // OpenTelemetry reads its own, and npm sets its own in lower case.
    'OTEL_TRACES_SAMPLERS',
    'OTEL_SERVICE_NAME',
    'npm_config_upstream_url',
    'upstream_url',
    // More than one edit away.
    'LOG_LEVEL_X',
    'LOG_LEEVLE',
    'MAX_ROWS',
    'MY_UPSTREAM_HOST',
  ])('ignores the unrelated variable %s', (name) => {
    expect(readConfig({ [name]: 'x' })).toEqual(defaults);
  });

  test('ignores a misspelled variable with an empty value', () => {
    expect(readConfig({ UPSTREAM_URLL: '' })).toEqual(defaults);
  });

  test('prefers the lower-case name of a proxy variable', () => {
    const { proxy } = readConfig({
      UPSTREAM_URL: 'https://rest.example',
      HTTPS_PROXY: 'http://upper.example',
      https_proxy: 'http://lower.example',
      no_proxy: 'a.example',
    });
    expect(proxy).toEqual({
      httpsProxy: new URL('http://lower.example'),
      httpProxy: undefined,
      noProxy: 'a.example',
    });
  });

  test('ignores proxy variables if UPSTREAM_URL is missing', () => {
    expect(readConfig({ HTTPS_PROXY: 'socks5://proxy.example', NO_PROXY: '*' })).toEqual(defaults);
  });

  test('accepts UPSTREAM_URL "sandbox", even in production', () => {
    expect(readConfig({ UPSTREAM_URL: 'sandbox' })).toEqual(defaults);
    expect(readConfig({ UPSTREAM_URL: 'sandbox', NODE_ENV: 'production' })).toEqual(defaults);
  });

  test.each(['/var/lib/waybill/state.sqlite', 'memory'])(
    'accepts STATE_FILE %s in production with a live service',
    (stateFile) => {
      const environment = { NODE_ENV: 'production', UPSTREAM_URL: 'https://rest.example' };
      expect(readConfig({ ...environment, STATE_FILE: stateFile }).stateFile).toBe(stateFile);
    },
  );

  test('accepts STATE_URL instead of STATE_FILE in production', () => {
    const environment = { NODE_ENV: 'production', UPSTREAM_URL: 'https://rest.example' };
    expect(readConfig({ ...environment, STATE_URL: 'postgres://db/shop' }).stateUrl?.host).toBe('db');
  });

  test.each([
    ['redis://user:s3cret@db/0', 'The scheme must be "postgres:", but is "redis:".'],
    ['mysql://user:s3cret@db/shop', 'The scheme must be "postgres:", but is "mysql:".'],
    ['postgres://user:s3cret@db', 'Name the database after the host'],
    ['postgres://user:s3cret@db/shop?password=s3cret', 'The parameter "password" is unknown.'],
    ['user:s3cret', 'The scheme must be "postgres:", but is "user:".'],
    ['s3cret', 'This is not a URL with one host.'],
  ])('refuses another STATE_URL without showing its password: %s', (url, advice) => {
    const message = faultsOf({ STATE_URL: url });
    expect(message).toContain(
      'STATE_URL: expected a URL such as postgres://user:password@host:5432/database?sslmode=verify-full, but got another text. ' +
        advice,
    );
    expect(message).not.toContain('s3cret');
  });

  test('accepts a missing STATE_FILE outside production', () => {
    expect(readConfig({ UPSTREAM_URL: 'https://rest.example' }).stateFile).toBeUndefined();
  });

  test.each(['127.0.0.1', '127.0.0.2', 'localhost', '::1'])(
    'accepts a missing UPSTREAM_URL if HOST is %s',
    (host) => {
      expect(readConfig({ HOST: host })).toEqual({ ...defaults, host });
    },
  );

  test('accepts any NODE_ENV other than "production"', () => {
    expect(readConfig({ NODE_ENV: 'development' })).toEqual(defaults);
  });

  test('reads every setting', () => {
    const environment = {
      PORT: '0',
      STATE_FILE: '/var/lib/waybill/state.sqlite',
      STATE_URL: 'postgres://waybill:p%40ss@db.example/shop?sslmode=verify-full',
      HOST: '::1',
      PUBLIC_URL: 'https://waybill.example/shop/',
      UPSTREAM_URL: 'http://rest.example:8080/base',
      SANDBOX_FILE: '/var/lib/sandbox.sqlite',
      SCHEMA: 'private',
      OPERATIONS_FILE: '/etc/waybill/operations.json',
      CURRENCY: 'USD',
      PAGE_SIZE_PARAMETER: 'page_size',
      PAGE_TOKEN_PARAMETER: 'page.token',
      STATUS_PARAMETER: 'filter-status',
      SEARCH_PARAMETER: 'q',
      QUERY_PARAMETER: 'q',
      UPSTREAM_READS_PER_OPERATION: '100000',
      OPERATION_TIMEOUT_MS: '1',
      RATE_LIMIT_POINTS_PER_SECOND: '50',
      REFERENCE_DATA_MS: '0',
      UPSTREAM_LISTS_FOR_BATCHES: 'no',
      SHOW_COST: 'yes',
      LOG_LEVEL: 'silent',
      CORS_ORIGINS: 'https://shop.example, http://localhost:3000',
      COMPRESSION: 'no',
      GRAPHQL_REQUESTS_AT_ONCE: '1',
      MAX_CONNECTIONS: '3',
      KEEP_ALIVE_TIMEOUT_MS: '8',
      LIVE_INTERVAL_MS: '12',
      DRAIN_WAIT_MS: '9',
      DRAIN_GRACE_MS: '0',
      UPSTREAM_CONNECTIONS: '10000',
      UPSTREAM_TIMEOUT_MS: '600000',
      UPSTREAM_RETRIES: '0',
      UPSTREAM_COMPRESSION: 'yes',
      HTTPS_PROXY: 'https://me:pass%20word@proxy.example:8443',
      HTTP_PROXY: 'proxy.example:3128',
      NO_PROXY: '.internal.example',
      MAX_NODES: '100',
      METRICS: 'yes',
      METRICS_PORT: '9464',
    };
    expect(readConfig(environment)).toEqual({
      port: 0,
      host: '::1',
      stateFile: '/var/lib/waybill/state.sqlite',
      stateUrl: {
        host: 'db.example',
        port: 5432,
        user: 'waybill',
        password: 'p@ss',
        database: 'shop',
        schema: 'waybill',
        sslMode: 'verify-full',
        rootCertificateFile: undefined,
      },
      publicUrl: new URL('https://waybill.example/shop/'),
      showCost: true,
      logLevel: 'silent',
      corsOrigins: ['https://shop.example', 'http://localhost:3000'],
      compressResponses: false,
      graphqlRequestsAtOnce: 1,
      maxConnections: 3,
      keepAliveTimeoutMs: 8,
      drainWaitMs: 9,
      drainGraceMs: 0,
      upstreamUrl: new URL('http://rest.example:8080/base'),
      sandboxFile: '/var/lib/sandbox.sqlite',
      upstreamConnections: 10_000,
      upstreamTimeoutMs: 600_000,
      upstreamRetries: 0,
      upstreamCompression: true,
      proxy: {
        httpsProxy: new URL('https://me:pass%20word@proxy.example:8443'),
        httpProxy: new URL('http://proxy.example:3128'),
        noProxy: '.internal.example',
      },
      parameterNames: {
        pageSize: 'page_size',
        pageToken: 'page.token',
        status: 'filter-status',
        search: 'q',
        query: 'q',
      },
      operationsFile: '/etc/waybill/operations.json',
      schemaAccess: 'private',
      currency: 'USD',
      operationTimeoutMs: 1,
      maxNodes: 100,
      readsPerOperation: 100_000,
      pointsPerSecond: 50,
      referenceMs: 0,
      listsForBatches: false,
      liveIntervalMs: 12,
      metrics: true,
      metricsPort: 9464,
      tracing: false,
    });
    const variables = Object.values(settingGroups).flatMap((group) =>
      Object.values(group).map(({ variable }) => variable),
    );
    expect(Object.keys(environment).sort()).toEqual(variables.sort());
    expect(Object.keys(settings), 'each has a name of its own').toHaveLength(variables.length);
  });

  test('returns a frozen object', () => {
    const config = readConfig({ UPSTREAM_URL: 'https://rest.example', HTTP_PROXY: 'proxy.example' });
    for (const part of [config, config.proxy, config.parameterNames])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe('readConfig with invalid settings', () => {
  test('reports all invalid values in one error', () => {
    const message = faultsOf({
      PORT: '65536',
      PUBLIC_URL: 'waybill.example',
      UPSTREAM_URL: 'ftp://rest.example',
      CURRENCY: 'pesos',
      LOG_LEVEL: 'INFO',
      PAGE_SIZE_PARAMETER: 'page size',
      PAGE_TOKEN_PARAMETER: 'a&b',
      STATUS_PARAMETER: 'a=b',
      SEARCH_PARAMETER: 'ñ',
      QUERY_PARAMETER: ' ',
      UPSTREAM_CONNECTIONS: '-1',
      UPSTREAM_RETRIES: '1.5',
      UPSTREAM_TIMEOUT_MS: '10s',
    });
    expect(message).toBe(
      [
        'The environment has invalid settings:',
        '  PORT: expected a whole number from 0 to 65535, but got "65536".',
        '  PUBLIC_URL: expected an http or https URL without query, fragment or credentials, but got "waybill.example".',
        '  LOG_LEVEL: expected one of "fatal", "error", "warn", "info", "debug", "silent", but got "INFO".',
        '  UPSTREAM_URL: expected "sandbox", or an http or https URL without query, fragment or credentials, but got "ftp://rest.example".',
        '  UPSTREAM_CONNECTIONS: expected a whole number from 1 to 10000, but got "-1".',
        '  UPSTREAM_TIMEOUT_MS: expected a whole number from 1 to 600000, but got "10s".',
        '  UPSTREAM_RETRIES: expected a whole number from 0 to 10, but got "1.5".',
        '  PAGE_SIZE_PARAMETER: expected a name of letters, digits, ".", "_" and "-", but got "page size".',
        '  PAGE_TOKEN_PARAMETER: expected a name of letters, digits, ".", "_" and "-", but got "a&b".',
        '  STATUS_PARAMETER: expected a name of letters, digits, ".", "_" and "-", but got "a=b".',
        '  SEARCH_PARAMETER: expected a name of letters, digits, ".", "_" and "-", but got "ñ".',
        '  QUERY_PARAMETER: expected a name of letters, digits, ".", "_" and "-", but got " ".',
        '  CURRENCY: expected an ISO 4217 code of three capital letters, but got "pesos".',
      ].join('\n'),
    );
  });

  test.each(['', ' ', '-0', '+80', '0x50', '80 ', '80\n', '８０', '9'.repeat(400), 'NaN'].filter(Boolean))(
    'rejects PORT %j',
    (PORT) => {
      expect(faultsOf({ PORT })).toContain(`PORT: expected a whole number from 0 to 65535, but got `);
    },
  );

  test.each([
    'rest.example',
    '//rest.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'http://rest.example:99999',
    'http://rest.example/?key=1',
    'http://rest.example/#a',
    'http://me@rest.example',
    'SANDBOX',
  ])('rejects UPSTREAM_URL %j', (UPSTREAM_URL) => {
    expect(faultsOf({ UPSTREAM_URL })).toContain(
      'UPSTREAM_URL: expected "sandbox", or an http or https URL without ',
    );
  });

  test.each([
    ['UPSTREAM_URLL', 'UPSTREAM_URL'],
    ['UPSTREAM_UL', 'UPSTREAM_URL'],
    ['UPSTREAM_URI', 'UPSTREAM_URL'],
    ['UPSTREAM_RUL', 'UPSTREAM_URL'],
    ['PUPSTREAM_URL', 'UPSTREAM_URL'],
    ['UPSTRAEM_URL', 'UPSTREAM_URL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['CURENCY', 'CURRENCY'],
    ['METRICS_PORTS', 'METRICS_PORT'],
  ])('rejects %s and suggests %s', (name, meant) => {
    expect(faultsOf({ [name]: 'x' })).toBe(
      `The environment has invalid settings:\n  ${name}: unknown setting; did you mean ${meant}?`,
    );
  });

  test.each(['UPSTREAM_TIMEOUT', 'UPSTREAM_', 'DRAIN_SECONDS', 'REFERENCE_DATA_SECONDS'])(
    'rejects the unknown variable %s because of its prefix',
    (name) => {
      expect(faultsOf({ [name]: 'x' })).toContain(
        `\n  ${name}: unknown setting; docs/configuration.md lists all settings.`,
      );
    },
  );

  test.each([
    ['WORKERS', 'a server is one process, and docs/operations/deploy.md says how to use several cores'],
    ['IDEMPOTENCY_KEYS', 'each merchant has 100,000 keys and locks'],
    ['MAX_ALIASES', 'docs/api-reference.md lists the fixed limits'],
    ['UPSTREAM_AHEAD_OF_ASK', 'UPSTREAM_LISTS_FOR_BATCHES=no does the same'],
  ])('rejects %s, which is gone, and says what holds instead', (name, instead) => {
    expect(faultsOf({ [name]: '4' })).toBe(
      `The environment has invalid settings:\n  ${name}: this setting is gone: ${instead}. Remove ${name}.`,
    );
  });

  test.each(['MAX_TOKENS', 'REQUEST_TIMEOUT_MS'])('ignores %s, a name that other programs use', (name) => {
    expect(readConfig({ [name]: '4' })).toEqual(readConfig({}));
  });

  test('requires UPSTREAM_URL in production', () => {
    const needed =
      'UPSTREAM_URL: required because NODE_ENV is "production". Set UPSTREAM_URL to the address of the REST service, or to "sandbox".';
    expect(
      faultsOf({ NODE_ENV: 'production', UPSTREAM_URL: '', UPSTREAM_UR: 'x', PORT: 'x' }).split('\n'),
    ).toEqual([
      'The environment has invalid settings:',
      '  PORT: expected a whole number from 0 to 65535, but got "x".',
      `  ${needed}`,
      '  UPSTREAM_UR: unknown setting; did you mean UPSTREAM_URL?',
    ]);
    expect(faultsOf({ NODE_ENV: 'production', UPSTREAM_URL: 'x', STATE_FILE: 'a' }).split('\n')).toHaveLength(
      2,
    );
  });

  test.each(['0.0.0.0', '::', '10.0.0.7', '127.0.0.1.example'])(
    'requires UPSTREAM_URL if HOST is %s',
    (host) => {
      expect(faultsOf({ HOST: host, NODE_ENV: 'staging' })).toBe(
        'The environment has invalid settings:\n' +
          `  UPSTREAM_URL: required because HOST is "${host}". ` +
          'Set UPSTREAM_URL to the address of the REST service, or to "sandbox".',
      );
    },
  );

  test.each([{}, { STATE_FILE: '' }])('requires STATE_FILE in production with a live service: %j', (none) => {
    const environment = { NODE_ENV: 'production', UPSTREAM_URL: 'https://rest.example', ...none };
    expect(faultsOf(environment)).toBe(
      'The environment has invalid settings:\n' +
        '  STATE_FILE: required because NODE_ENV is "production". ' +
        'Set STATE_FILE to the path of a file for idempotency keys, or to "memory" if a restart may lose the keys, or set STATE_URL.',
    );
  });

  test.each(['http://localhost', 'localhost:4000', '[::1]', '0.0.0.0:4000', 'my host', '127.0.0.1/', ' '])(
    'rejects HOST %j',
    (HOST) => {
      expect(faultsOf({ HOST })).toBe(
        'The environment has invalid settings:\n' +
          '  HOST: expected an IP address or a host name, without scheme, port or brackets, ' +
          `but got ${JSON.stringify(HOST)}.`,
      );
    },
  );

  test.each(['localhost', 'waybill.internal.', 'my_host', 'fe80::1%eth0', '::', '0.0.0.0', '10.0.0.7'])(
    'accepts HOST %s',
    (HOST) => {
      expect(readConfig({ HOST, UPSTREAM_URL: 'sandbox' }).host).toBe(HOST);
    },
  );

  test('rejects a METRICS_PORT that equals PORT', () => {
    expect(faultsOf({ METRICS_PORT: '4000' })).toContain(
      '\n  PORT, METRICS_PORT: expected two different ports, but got "4000", "4000".',
    );
    expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort).toBe(0);
  });

  test('rejects METRICS_PORT if METRICS is "no"', () => {
    expect(faultsOf({ METRICS: 'no', METRICS_PORT: '9464' })).toContain(
      '\n  METRICS, METRICS_PORT: expected no METRICS_PORT if METRICS is "no", but got "no", "9464".',
    );
  });

  test('hides the credentials of a rejected URL', () => {
    const message = faultsOf({ UPSTREAM_URL: 'https://me:pass@word@rest.example/a' });
    expect(message).toContain('but got "https://…@rest.example/a".');
  });

  test.each([
    ['HTTPS_PROXY', 'socks5://me:pass/word@proxy.example', 'socks5://…@proxy.example'],
    ['https_proxy', 'me:pass@proxy.example/path', '…@proxy.example/path'],
    ['HTTP_PROXY', 'http://me:100%@proxy.example', 'http://…@proxy.example'],
    ['http_proxy', 'http://', 'http://'],
  ])('rejects %s %s without quoting the credentials', (variable, value, shown) => {
    const message = faultsOf({ UPSTREAM_URL: 'https://rest.example', [variable]: value });
    expect(message).toContain(
      `${variable}: expected an http or https URL without path or query, with any credentials percent-encoded, but got "${shown}".`,
    );
  });

  test('rejects two list parameters with the same name', () => {
    const names = { PAGE_SIZE_PARAMETER: 'q', QUERY_PARAMETER: 'q', STATUS_PARAMETER: 'search' };
    expect(faultsOf({ ...names, PORT: 'x' })).toBe(
      [
        'The environment has invalid settings:',
        '  PORT: expected a whole number from 0 to 65535, but got "x".',
        '  STATUS_PARAMETER, SEARCH_PARAMETER: expected a different name for each parameter, but got "search", "search".',
        '  PAGE_SIZE_PARAMETER, QUERY_PARAMETER: expected a different name for each parameter, but got "q", "q".',
      ].join('\n'),
    );
  });

  test('reports one error if page size and page token have the same parameter name', () => {
    const message = faultsOf({ PAGE_SIZE_PARAMETER: 'page', PAGE_TOKEN_PARAMETER: 'page' });
    expect(message.split('\n')).toHaveLength(2);
  });
});
