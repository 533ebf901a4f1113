/** Why REST could not be reached, in words that are fit for anybody; undefined where it could. */
export type Probe = () => Promise<string | undefined>;

/** Whether this server can do its work. */
export interface Health {
  /** Why no requests should be sent here, in words that are fit for anybody; undefined where they should. */
  reasonNotReady(): Promise<string | undefined>;
  /** From now on no requests should be sent here. */
  end(): void;
}

// Probes of several load balancers together ask REST no more often than this.
const keptMs = 3_000;

/**
 * @param probe asked when somebody wants to know, once at a time, and at most once in `keepMs` milliseconds.
 */
export function createHealth(probe: Probe, keepMs = keptMs): Health {
  let isEnding = false;
  let known: { reason: Promise<string | undefined>; until: number } | undefined;

  function asked(): Promise<string | undefined> {
    if (known !== undefined && performance.now() < known.until) return known.reason;
    const flight = { reason: probe(), until: Number.POSITIVE_INFINITY };
    known = flight;
    flight.reason.finally(() => {
      flight.until = performance.now() + keepMs;
    });
    return flight.reason;
  }

  return {
    async reasonNotReady() {
      const reason = isEnding ? undefined : await asked();
      return isEnding ? 'This server is ending.' : reason;
    },
    end() {
      isEnding = true;
    },
  };
}
