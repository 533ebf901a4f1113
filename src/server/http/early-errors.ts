import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { OnHttpError } from './http-error.ts';

/** Creates the handler that counts early errors and logs each at level debug. */
export function reportEarlyErrors(log: Log, metrics: Metrics | undefined): OnHttpError {
  return ({ requestId, status, code }) => {
    metrics?.earlyError(status);
    if (log.isLevelEnabled('debug')) log.debug({ requestId, status, errors: { [code]: 1 } }, 'refused');
  };
}
