import { connect, type Socket } from 'node:net';

// A load on open connections: each connection sends its next request when the last response is complete. The load
// uses plain sockets, because it shares a core with REST and must cost little. It reads only the framing of a
// response, unless a request has a `look` function.

/** A request as it goes over the wire. */
export interface Question {
  text: string;
  /** Receives the whole response, head and body. Without it, a response must have status 200 and no errors. */
  look?: (answer: string) => void;
}

export interface LoadOptions {
  port: number;
  next: () => Question;
  connections: number;
  /** After this time no request starts. */
  forMs?: number;
  /** The number of requests. */
  total?: number;
  /** The most requests to start in a second. By default, a request starts when a connection is free. */
  ratePerSecond?: number;
}

export interface LoadSeen {
  requests: number;
  /** The time from the first request to the last response. */
  ms: number;
  /** Sorted. */
  latenciesMs: Float64Array;
}

/**
 * @throws Error if a request without `look` gets another status than 200 or a body with errors, because such a response
 * says nothing about speed. Error if the server closes a connection.
 */
export async function load(options: LoadOptions): Promise<LoadSeen> {
  const { port, next, connections, forMs = Infinity, total = Infinity, ratePerSecond = Infinity } = options;
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port)));
  const latencies: number[] = [];
  const startedAtMs = performance.now();
  let begun = 0;

  function askAgainAndAgain(socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentAtMs = 0;
      let question: Question;
      let answer: Answer | undefined;

      function goOn(): void {
        const now = performance.now();
        if (begun >= total || now - startedAtMs >= forMs) {
          resolve(void socket.removeAllListeners('close'));
          return;
        }
        const dueInMs = startedAtMs + (begun / ratePerSecond) * 1_000 - now;
        begun += 1;
        if (dueInMs > 0) setTimeout(send, dueInMs);
        else send();
      }

      function send(): void {
        answer = undefined;
        question = next();
        sentAtMs = performance.now();
        socket.write(question.text);
      }

      socket.on('error', reject).on('close', () => reject(new Error('The server closed a connection')));
      socket.on('data', (chunk) => {
        try {
          if (answer === undefined) answer = answerTo(question, chunk);
          else answer.add(chunk);
          if (!answer.isWhole()) return;
          latencies.push(performance.now() - sentAtMs);
          question.look?.(answer.text());
          goOn();
        } catch (error) {
          reject(error);
        }
      });
      goOn();
    });
  }

  try {
    await Promise.all(sockets.map(askAgainAndAgain));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return {
    requests: latencies.length,
    ms: performance.now() - startedAtMs,
    latenciesMs: Float64Array.from(latencies).sort(),
  };
}

/** The value below which this part of all values lies. @param sorted in ascending order */
export function percentile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export interface RequestParts {
  method?: string;
  path: string;
  token?: string | undefined;
  headers?: readonly string[];
  body?: string;
}

/** A request of HTTP/1.1 as it goes over the wire. */
export function requestText({ method = 'POST', path, token, headers = [], body = '' }: RequestParts): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...headers,
    ...(body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

const errorsMark = '"errors":[';

/** The response that a connection receives. */
interface Answer {
  add(chunk: Buffer): void;
  isWhole(): boolean;
  /** The whole response; available only if the request has `look`. */
  text(): string;
}

/** @throws Error if a request without `look` gets another status than 200 or a body with errors. */
function answerTo({ look }: Question, first: Buffer): Answer {
  const headEnd = first.indexOf('\r\n\r\n');
  const head = first.toString('latin1', 0, headEnd);
  if (headEnd < 0 || (look === undefined && !head.startsWith('HTTP/1.1 200'))) throw unexpected(first);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const kept: Buffer[] = [];
  let left = length === undefined ? Number.NaN : Number(length) + headEnd + 4;
  let tail = '';

  function add(chunk: Buffer): void {
    if (look !== undefined) kept.push(chunk);
    else if (chunk.includes(errorsMark)) throw unexpected(chunk);
    left -= chunk.length;
    // The JSON has no line breaks, so these characters occur only in the mark of the last chunk.
    if (length === undefined)
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5);
  }

  add(first);
  return {
    add,
    isWhole: () => (length === undefined ? tail === '0\r\n\r\n' : left <= 0),
    text: () => Buffer.concat(kept).toString(),
  };
}

function unexpected(answer: Buffer): Error {
  const text = answer.toString();
  const from = Math.max(0, text.indexOf(errorsMark));
  return new Error(`Expected an answer without errors, but got ${text.slice(from, from + 800)}`);
}
