import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { OnHttpError } from './http-error.ts';

/** Counts what is refused before it is a request of any route, and writes a line of each where that is wanted. */
export function reportEarlyErrors(log: Log, metrics: Metrics | undefined): OnHttpError {
  return ({ requestId, status, code }) => {
    metrics?.earlyError(status);
    if (log.isLevelEnabled('debug')) log.debug({ requestId, status, errors: { [code]: 1 } }, 'refused');
  };
}
