import { quoteForMessage } from '../base/quote-for-message.ts';
import type { Log } from './log.ts';

/** A longer origin is cut. Only the names of hosts are longer, and rarely. */
const maxCharacters = 128;
const maxLinesPerMinute = 10;
const minuteMs = 60_000;
/** At most 10 origins a minute are remembered, so a flood of origins fills this in 100 minutes. */
const maxOrigins = 1_000;

/**
 * Logs each refused origin once, because any client can send any origin: at most ten lines a minute. An origin without
 * a line is not remembered, and gets its line with a later request.
 * @returns called with the header `Origin` of each request of a page whose origin is not in CORS_ORIGINS
 */
export function createRefusedOriginLog(log: Log): (origin: string) => void {
  const logged = new Set<string>();
  /** The times of the last lines, the oldest first. */
  const lineTimes: number[] = [];
  return (origin) => {
    // A made-up origin may have credentials before an "@", which no browser sends: they are cut. So are the quotes around
    // the text, because JSON adds its own.
    const shown = quoteForMessage(origin.replace(/^.*@/s, '…@'), maxCharacters).slice(1, -1);
    if (logged.has(shown)) return;
    const now = performance.now();
    const [oldest] = lineTimes;
    if (oldest !== undefined && lineTimes.length >= maxLinesPerMinute && now - oldest < minuteMs) return;
    lineTimes.push(now);
    if (lineTimes.length > maxLinesPerMinute) lineTimes.shift();
    logged.add(shown);
    const [first] = logged;
    if (first !== undefined && logged.size > maxOrigins) logged.delete(first);
    log.info(
      { origin: shown },
      'a web page or app was refused, because CORS_ORIGINS does not list its origin',
    );
  };
}
