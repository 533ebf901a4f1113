import type { Environment } from './setting.ts';

/** Whether the variables of OpenTelemetry ask for traces. Only then its packages are loaded, which read and check them. */
export function wantsTraces(environment: Environment): boolean {
  const exporter = environment.OTEL_TRACES_EXPORTER;
  const hasEndpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const isDisabled = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true';
  return !isDisabled && (exporter ? exporter === 'otlp' : Boolean(hasEndpoint));
}
