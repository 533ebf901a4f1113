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
    'Whether `/metrics` shows what is counted. Absent: with the embedded sandbox or `METRICS_PORT` alone.',
  ),
  metricsPort: wholeNumber(
    'METRICS_PORT',
    undefined,
    [0, 65_535],
    'The port on which `/metrics` is, in the place of `PORT`; `0` takes any free one. Absent: on `PORT`.',
  ),
};

/** The variables of OpenTelemetry that this server supports. */
export const tracingSettings = {
  isDisabled: {
    variable: 'OTEL_SDK_DISABLED',
    defaultValue: 'false',
    meaning: 'Whether nothing is traced, whatever the variables below say.',
    expected: '"true" or "false"',
    // In any case, as the OpenTelemetry specification says.
    parse: (text: string) => (/^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : undefined),
  },
  exporter: oneOfOrNone(
    'OTEL_TRACES_EXPORTER',
    ['otlp', 'none'],
    'Where traces go. Absent: by OTLP where one of the two endpoints below is given, else nowhere.',
  ),
  endpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'The collector, to whose `/v1/traces` they are sent. Absent: `http://localhost:4318`.',
  ),
  tracesEndpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'The whole address that they are sent to, in the place of the one above.',
  ),
  protocol: oneOf(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/protobuf',
    ['http/protobuf', 'http/json'],
    'How they are written.',
  ),
  tracesProtocol: oneOfOrNone(
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    ['http/protobuf', 'http/json'],
    'The same, in the place of the one above.',
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
    'Which are kept; those that begin with `parentbased_` follow the `traceparent` of a request where it has one.',
  ),
  ratio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    defaultValue: '1',
    meaning: 'The share that a `traceidratio` keeps.',
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
