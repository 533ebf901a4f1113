import type { Environment } from './setting.ts';

/**
 * Returns whether the variables of OpenTelemetry ask for traces. Its own packages read and check all of them
 * (src/telemetry/otlp-tracing.ts). They are loaded only if this returns true.
 */
export function wantsTraces(environment: Environment): boolean {
  const exporter = environment.OTEL_TRACES_EXPORTER;
  const hasEndpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const isDisabled = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true';
  return !isDisabled && (exporter ? exporter === 'otlp' : Boolean(hasEndpoint));
}
