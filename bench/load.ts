import { connect, type Socket } from 'node:net';

// Connections that are kept open: each sends its next request when the last is answered. Plain sockets, as the load shares its
// core with REST and must not be what is measured: unless somebody looks at an answer, only what frames it is read.

/** A request as it goes over the wire. */
export interface Question {
  text: string;
  /** Is shown the whole answer, head and body. Without it, the load takes no answer but one of 200 without errors. */
  look?: (answer: string) => void;
}

export interface LoadOptions {
  port: number;
  next: () => Question;
  connections: number;
  /** No request begins later. */
  forMs?: number;
  /** How many requests there are. */
  total?: number;
  /** How many requests begin a second at most. When left out, each begins as soon as a connection is free. */
  ratePerSecond?: number;
}

export interface LoadSeen {
  requests: number;
  /** From the first request sent to the last answer read. */
  ms: number;
  /** Sorted. */
  latenciesMs: Float64Array;
}

/**
 * @throws Error at the first answer that nobody looks at and that is not 200 or has errors: such an answer is no measure of
 * speed. Error where the server ends a connection.
 */
export async function load(options: LoadOptions): Promise<LoadSeen> {
  const { port, next, connections, forMs = Infinity, total = Infinity, ratePerSecond = Infinity } = options;
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port)));
  const latencies: number[] = [];
  const startedAt = performance.now();
  let begun = 0;

  function askAgainAndAgain(socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentAt = 0;
      let question: Question;
      let answer: Answer | undefined;

      function goOn(): void {
        const now = performance.now();
        if (begun >= total || now - startedAt >= forMs) {
          resolve(void socket.removeAllListeners('close'));
          return;
        }
        const dueInMs = startedAt + (begun / ratePerSecond) * 1_000 - now;
        begun += 1;
        if (dueInMs > 0) setTimeout(send, dueInMs);
        else send();
      }

      function send(): void {
        answer = undefined;
        question = next();
        sentAt = performance.now();
        socket.write(question.text);
      }

      socket.on('error', reject).on('close', () => reject(new Error('The server closed a connection')));
      socket.on('data', (chunk) => {
        try {
          if (answer === undefined) answer = answerTo(question, chunk);
          else answer.add(chunk);
          if (!answer.isWhole()) return;
          latencies.push(performance.now() - sentAt);
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
    ms: performance.now() - startedAt,
    latenciesMs: Float64Array.from(latencies).sort(),
  };
}

/** The time below which this part of them lies. @param sorted in ascending order */
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

/** How far an answer has come. */
interface Answer {
  add(chunk: Buffer): void;
  isWhole(): boolean;
  /** Only where somebody looks at it. */
  text(): string;
}

/** @throws Error for an answer that is not what was asked for, where nobody looks at it. */
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
    // JSON has no line breaks but in its framing, so that the last chunk's mark can't be within it.
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
