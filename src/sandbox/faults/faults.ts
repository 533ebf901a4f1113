import type { Quirks } from './quirks.ts';

/** The requests that a fault affects: all matching ones, or the first `times` of them. */
export interface FaultMatch {
  /** `GET`, `POST` or `PATCH`. By default any method. */
  method?: string;
  /** The whole path without the query, or a pattern for it. By default any path. */
  path?: string | RegExp;
  /** The access token of the request, without `Bearer`. By default any token, and also none. */
  token?: string;
  times?: number;
}

/** The effect of a fault. A replaced response means that the request is not applied. All other effects apply it. */
export type FaultEffect = ReplacingFault | AlteringFault;

/** Effects that replace the response. */
export type ReplacingFault =
  /** Sends this status and body: a string unchanged, undefined as an empty body, any other value as JSON. */
  | { kind: 'status'; status: number; body?: unknown; contentType?: string; headers?: Record<string, string> }
  /** Accepts the request and never responds. */
  | { kind: 'hang' }
  /** Resets the connection before any header is sent. */
  | { kind: 'reset' };

/** Effects on the response of an applied request. */
export type AlteringFault =
  /** Waits `delayMs` before the request is applied, then responds normally. */
  | { kind: 'delay'; delayMs: number }
  /** Sends the headers and `bytes` bytes of the body (half by default), then resets the connection. */
  | { kind: 'reset-in-body'; bytes?: number }
  /** Ends the body after `bytes` bytes (half by default) with a matching Content-Length: valid HTTP, cut JSON. */
  | { kind: 'cut-json'; bytes?: number }
  /** Announces `missingBytes` bytes more than it sends (1 by default), then closes the connection. */
  | { kind: 'short'; missingBytes?: number }
  /** Sends the body in chunks of `bytes` bytes, with a wait of `everyMs` before each. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** Sends the response with another content type. */
  | { kind: 'content-type'; contentType: string }
  /** Sends the result of the function on the JSON of the response. */
  | { kind: 'change'; change: (answer: unknown) => unknown }
  /** Applies the request, then resets the connection before any header is sent. */
  | { kind: 'applied-then-cut' }
  /** Handles the request with these quirks. They override the sandbox's quirks. */
  | { kind: 'quirks'; quirks: Partial<Quirks> };

/** A fault: an effect and the requests that it affects. */
export type Fault = FaultMatch & FaultEffect;

/** The faults of a sandbox, for tests to change. */
export interface Faults {
  /** Adds a fault and returns a function that removes it. If several match, the fault added first takes effect. */
  add(fault: Fault): () => void;
  clear(): void;
}

/** The faults of a sandbox, for its server to read. */
export interface FaultSource {
  /**
   * Returns the fault for a request and counts one use of it. Undefined if no fault matches.
   * @param token the access token of the request; undefined without one
   */
  take(method: string, path: string, token: string | undefined): FaultEffect | undefined;
}

/** Creates an empty list of faults. */
export function createFaults(): Faults & FaultSource {
  let activeFaults: { fault: Fault; remainingTimes: number }[] = [];
  return {
    add(fault) {
      const activeFault = { fault, remainingTimes: fault.times ?? Number.POSITIVE_INFINITY };
      activeFaults.push(activeFault);
      return () => {
        activeFaults = activeFaults.filter((candidate) => candidate !== activeFault);
      };
    },
    clear() {
      activeFaults = [];
    },
    take(method, path, token) {
      const activeFault = activeFaults.find(
        ({ fault, remainingTimes }) => remainingTimes > 0 && matches(fault, method, path, token),
      );
      if (activeFault === undefined) return undefined;
      activeFault.remainingTimes -= 1;
      return activeFault.fault;
    },
  };
}

function matches(fault: FaultMatch, method: string, path: string, token: string | undefined): boolean {
  if (fault.token !== undefined && fault.token !== token) return false;
  if (fault.method !== undefined && fault.method !== method) return false;
  if (fault.path === undefined) return true;
  return typeof fault.path === 'string' ? fault.path === path : fault.path.test(path);
}
