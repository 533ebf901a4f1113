import {
  type Environment,
  httpUrl,
  oneOf,
  oneOfOrNone,
  type ValuesOf,
  wholeNumber,
  yesOrNo,
} from './setting.ts';

/** The metrics that operators can read. */
export const metricsSettings = {
  metrics: yesOrNo(
    'METRICS',
    undefined,
    'Whether `/metrics` is served. The default is `yes` with the embedded sandbox or with `METRICS_PORT`, else `no`.',
  ),
  metricsPort: wholeNumber(
    'METRICS_PORT',
    undefined,
    [0, 65_535],
    'A separate port for `/metrics` alone, on `HOST`. `0` means any free port. By default, `/metrics` is on `PORT`.',
  ),
};

/** The variables of OpenTelemetry that this server supports. */
export const tracingSettings = {
  isDisabled: {
    variable: 'OTEL_SDK_DISABLED',
    defaultValue: 'false',
    meaning: 'Whether tracing is off. `true` overrides the variables below.',
    expected: '"true" or "false"',
    // In any case, as the OpenTelemetry specification says.
    parse: (text: string) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined),
  },
  exporter: oneOfOrNone(
    'OTEL_TRACES_EXPORTER',
    ['otlp', 'none'],
    'How traces are exported. The default is `otlp` if one of the two endpoints below is set, else `none`.',
  ),
  endpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'The base URL of the collector. Waybill adds `/v1/traces`. With `OTEL_TRACES_EXPORTER=otlp` the default is `http://localhost:4318`.',
  ),
  tracesEndpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'The full URL to which traces are sent. It replaces the base URL above.',
  ),
  protocol: oneOf(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/protobuf',
    ['http/protobuf', 'http/json'],
    'The format of exported traces.',
  ),
  tracesProtocol: oneOfOrNone(
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    ['http/protobuf', 'http/json'],
    'The format of exported traces. It replaces the variable above.',
  ),
  sampler: oneOf(
    'OTEL_TRACES_SAMPLER',
    'parentbased_always_on',
    [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    'The rule that selects traces. A rule that begins with `parentbased_` follows the `traceparent` header of the request, if present.',
  ),
  ratio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    defaultValue: '1',
    meaning: 'The share of traces that a `traceidratio` rule keeps.',
    expected: 'a number from 0 to 1',
    parse: (text: string) => (/^(0|1|0?\.\d{1,15}|1\.0+)$/.test(text) ? Number(text) : undefined),
  },
};

/**
 * Returns a predicate of the tracing variables that have an effect. The others are not validated: they may be set for
 * other programs, which support more values.
 */
export function tracingUses(environment: Environment): (variable: string) => boolean {
  const { isDisabled, exporter, endpoint, tracesEndpoint, protocol, tracesProtocol, sampler, ratio } =
    tracingSettings;
  const textOf = ({ variable }: { variable: string }) => environment[variable] || undefined;
  const isOff =
    isDisabled.parse(textOf(isDisabled) ?? '') === true ||
    textOf(exporter) === 'none' ||
    [exporter, endpoint, tracesEndpoint].every((setting) => textOf(setting) === undefined);
  const unused = new Set<string>();
  if (textOf(tracesEndpoint) !== undefined) unused.add(endpoint.variable);
  if (textOf(tracesProtocol) !== undefined) unused.add(protocol.variable);
  if (textOf(sampler)?.endsWith('traceidratio') !== true) unused.add(ratio.variable);
  return (variable) => !isOff && !unused.has(variable);
}

/** Returns the address, the protocol and the sampling of traces; undefined when tracing is off. */
export function tracingOf({
  isDisabled,
  exporter,
  endpoint,
  tracesEndpoint,
  protocol,
  tracesProtocol,
  ...rest
}: ValuesOf<typeof tracingSettings>) {
  const isOn = exporter === undefined ? (endpoint ?? tracesEndpoint) !== undefined : exporter === 'otlp';
  if (isDisabled || !isOn) return undefined;
  const base = (endpoint?.href ?? 'http://localhost:4318').replace(/\/$/, '');
  const url = tracesEndpoint ?? new URL(`${base}/v1/traces`);
  return Object.freeze({ ...rest, protocol: tracesProtocol ?? protocol, url });
}

/** Returns an error if METRICS_PORT is set while METRICS is `no`. */
export function metricsErrors({ metrics, metricsPort }: ValuesOf<typeof metricsSettings>): string[] {
  if (metrics !== false || metricsPort === undefined) return [];
  const { metrics: metricsSetting, metricsPort: portSetting } = metricsSettings;
  return [
    `${metricsSetting.variable}, ${portSetting.variable}: expected no port where nothing is shown, but got "no", "${metricsPort}".`,
  ];
}
