import {
  type Environment,
  httpUrl,
  oneOf,
  oneOfOrNone,
  type ValuesOf,
  wholeNumber,
  yesOrNo,
} from './setting.ts';

/** What operators can look at. */
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

/** OpenTelemetry's own variables, as far as they decide what this server does. */
export const tracingSettings = {
  isDisabled: {
    variable: 'OTEL_SDK_DISABLED',
    defaultValue: 'false',
    meaning: 'Whether nothing is traced, whatever the variables below say.',
    expected: '"true" or "false"',
    // In whatever case, as its specification has it.
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
 * Tells which of these variables decide anything, so that the others need not fit: they may be there for programs that
 * know more than this one.
 */
export function tracingUses(environment: Environment): (variable: string) => boolean {
  const { isDisabled, exporter, endpoint, tracesEndpoint, protocol, tracesProtocol, sampler, ratio } =
    tracingSettings;
  const given = ({ variable }: { variable: string }) => environment[variable] || undefined;
  const isOff =
    isDisabled.parse(given(isDisabled) ?? '') === true ||
    given(exporter) === 'none' ||
    [exporter, endpoint, tracesEndpoint].every((setting) => given(setting) === undefined);
  const unused = new Set<string>();
  if (given(tracesEndpoint) !== undefined) unused.add(endpoint.variable);
  if (given(tracesProtocol) !== undefined) unused.add(protocol.variable);
  if (given(sampler)?.endsWith('traceidratio') !== true) unused.add(ratio.variable);
  return (variable) => !isOff && !unused.has(variable);
}

/** Where traces are sent and which; undefined where nothing is traced. */
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

/** The faults of settings that contradict each other. */
export function metricsErrors({ metrics, metricsPort }: ValuesOf<typeof metricsSettings>): string[] {
  if (metrics !== false || metricsPort === undefined) return [];
  const { metrics: shows, metricsPort: port } = metricsSettings;
  return [
    `${shows.variable}, ${port.variable}: expected no port where nothing is shown, but got "no", "${metricsPort}".`,
  ];
}
