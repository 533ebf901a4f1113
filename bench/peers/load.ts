import { connect, type Socket } from 'node:net';

// A closed loop over connections that are kept open: each sends its next request when the last is answered. Plain sockets,
// as the load shares its core with REST and must not be what is measured: of an answer only what frames it is read.

/** What to ask, and how. */
export interface LoadOptions {
  port: number;
  path: string;
  bodies: readonly string[];
  /** The access token of the next request. */
  nextBearer: () => string;
  connections: number;
  forMs: number;
}

export interface LoadSeen {
  requests: number;
  /** From the first request sent to the last answer read. */
  ms: number;
  /** Sorted. */
  latenciesMs: Float64Array;
}

/** @throws Error at the first answer that is not 200 or that has errors: such an answer is no measure of speed. */
export async function load(options: LoadOptions): Promise<LoadSeen> {
  const latencies: number[] = [];
  const heads = headsOf(options);
  let next = 0;
  const startedAt = performance.now();
  const isOver = () => performance.now() - startedAt >= options.forMs;

  function nextRequest(): string {
    const [before = '', after = ''] = heads[next++ % heads.length] ?? [];
    return before + options.nextBearer() + after;
  }

  const sockets = await Promise.all(Array.from({ length: options.connections }, () => opened(options.port)));
  try {
    await Promise.all(
      sockets.map((socket) => askAgainAndAgain(socket, nextRequest, isOver, (ms) => latencies.push(ms))),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return {
    requests: latencies.length,
    ms: performance.now() - startedAt,
    latenciesMs: Float64Array.from(latencies).sort(),
  };
}

/** Each request in two halves, between which the token goes. */
function headsOf({ port, path, bodies }: LoadOptions): [string, string][] {
  return bodies.map((body) => [
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: application/json\r\n` +
      'content-type: application/json\r\nauthorization: Bearer ',
    `\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  ]);
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

function askAgainAndAgain(
  socket: Socket,
  nextRequest: () => string,
  isOver: () => boolean,
  answered: (ms: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let frame: Frame | undefined;

    function send(): void {
      frame = undefined;
      sentAt = performance.now();
      socket.write(nextRequest());
    }

    socket.on('error', reject).on('close', () => reject(new Error('The server closed a connection')));
    socket.on('data', (chunk) => {
      try {
        if (frame === undefined) frame = frameOf(chunk);
        else frame.add(chunk);
      } catch (error) {
        reject(error);
        return;
      }
      if (!frame.isWhole()) return;
      answered(performance.now() - sentAt);
      if (isOver()) resolve(void socket.removeAllListeners('close'));
      else send();
    });
    send();
  });
}

const errorsMark = '"errors":[';

/** How far an answer has come. */
interface Frame {
  add(chunk: Buffer): void;
  isWhole(): boolean;
}

/** @throws Error for an answer that is not what was asked for. */
function frameOf(first: Buffer): Frame {
  const headEnd = first.indexOf('\r\n\r\n');
  const head = first.toString('latin1', 0, headEnd);
  if (headEnd < 0 || !head.startsWith('HTTP/1.1 200')) throw unexpected(first);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  let left = length === undefined ? Number.NaN : Number(length) + headEnd + 4;
  let tail = '';

  function add(chunk: Buffer): void {
    if (chunk.includes(errorsMark)) throw unexpected(chunk);
    left -= chunk.length;
    // JSON has no line breaks but in its framing, so that the last chunk's mark can't be within it.
    if (length === undefined)
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5);
  }

  add(first);
  return { add, isWhole: () => (length === undefined ? tail === '0\r\n\r\n' : left <= 0) };
}

function unexpected(answer: Buffer): Error {
  const text = answer.toString();
  const from = Math.max(0, text.indexOf(errorsMark));
  return new Error(`Expected an answer without errors, but got ${text.slice(from, from + 800)}`);
}
