import type { Quirks } from './quirks.ts';

/** Which requests a fault befalls: all that match, or the first `times` of them. */
export interface FaultMatch {
  /** `GET`, `POST`, `PATCH`; any where left out. */
  method?: string;
  /** The whole path, without the query, or a pattern for it; any where left out. */
  path?: string | RegExp;
  times?: number;
}

/** What goes wrong. Those that stand in place of the answer leave the request undone; all others do it. */
export type FaultEffect = InsteadOfAnswer | OfAnswer;

export type InsteadOfAnswer =
  /** Answers this status and body: a string as it is, nothing for undefined, anything else as JSON. */
  | { kind: 'status'; status: number; body?: unknown; contentType?: string; headers?: Record<string, string> }
  /** Takes the request and never answers. */
  | { kind: 'hang' }
  /** Resets the connection before any header. */
  | { kind: 'reset' };

export type OfAnswer =
  /** Waits so many milliseconds before the request is done, then answers as ever. */
  | { kind: 'delay'; delayMs: number }
  /** Sends the headers and so many bytes of the answer (half of it by default), then resets the connection. */
  | { kind: 'reset-in-body'; bytes?: number }
  /** Ends the answer after so many bytes (half of it by default) with a Content-Length to match: whole as HTTP, cut as JSON. */
  | { kind: 'cut-json'; bytes?: number }
  /** Announces so many bytes more than it sends (1 by default), then closes the connection. */
  | { kind: 'short'; missingBytes?: number }
  /** Sends the answer so many bytes at a time, with so many milliseconds before each. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** Sends the answer under another content type. */
  | { kind: 'content-type'; contentType: string }
  /** Sends what the function makes of the answer's JSON. */
  | { kind: 'change'; change: (answer: unknown) => unknown }
  /** Does the request for good, then resets the connection before any header. */
  | { kind: 'applied-then-cut' }
  /** Does the request with these quirks in place of the standing ones. */
  | { kind: 'quirks'; quirks: Partial<Quirks> };

export type Fault = FaultMatch & FaultEffect;

export interface Faults {
  /** Adds a fault; the function that it answers removes it again. Of several that match, the one added first strikes. */
  add(fault: Fault): () => void;
  clear(): void;
}

/** The faults as the server sees them. */
export interface FaultSource {
  /** The fault for this request, one of its times used up; undefined where nothing is to go wrong. */
  take(method: string, path: string): FaultEffect | undefined;
}

export function createFaults(): Faults & FaultSource {
  let planned: { fault: Fault; left: number }[] = [];
  return {
    add(fault) {
      const plan = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      planned.push(plan);
      return () => {
        planned = planned.filter((other) => other !== plan);
      };
    },
    clear() {
      planned = [];
    },
    take(method, path) {
      const plan = planned.find(({ fault, left }) => left > 0 && matches(fault, method, path));
      if (plan === undefined) return undefined;
      plan.left -= 1;
      return plan.fault;
    },
  };
}

function matches(fault: FaultMatch, method: string, path: string): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  if (fault.path === undefined) return true;
  return typeof fault.path === 'string' ? fault.path === path : fault.path.test(path);
}
