import { connect, type Socket } from 'node:net';
import pLimit from 'p-limit';
import { requestText } from '../load.ts';
import { boardSubscription, now, tokenStart } from './boards.ts';

/** An event of a stream: the response of GraphQL, and when it came. */
export interface Event {
  json: string;
  atMs: number;
}

/** A client of a stream, on a plain socket: a thousand of them must cost little. */
export interface Viewer {
  token: string;
  events: Event[];
  socket: Socket;
  /** Resolves when the first event has come. Rejects if the stream ends before. */
  opened: Promise<void>;
  isOpen(): boolean;
}

const dataStart = 'data: {';
const frameEnd = '\n\n';

/** The request for a stream of a board, or of another subscription. */
export function streamRequest(token: string, query = boardSubscription): string {
  const headers = ['accept: text/event-stream', 'content-type: application/json'];
  return requestText({ path: '/graphql', token, headers, body: JSON.stringify({ query }) });
}

/** Opens a stream. */
export function watch(port: number, token: string, query?: string): Viewer {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.write(streamRequest(token, query));
  const events: Event[] = [];
  const first = Promise.withResolvers<void>();
  let isOpen = true;
  let text = '';
  // Each event is one chunk of HTTP, so the length of the next chunk is never inside an event.
  socket.on('data', (chunk) => {
    text += chunk.toString();
    if (text.includes('event: complete')) isOpen = false;
    for (let end = text.indexOf(frameEnd); end >= 0; end = text.indexOf(frameEnd)) {
      const start = text.lastIndexOf(dataStart, end);
      if (start >= 0) {
        events.push({ json: text.slice(start + dataStart.length - 1, end), atMs: now() });
        first.resolve();
      }
      text = text.slice(end + frameEnd.length);
    }
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => {
    isOpen = false;
    first.reject(new Error(`The stream of ${token} ended: ${text}`));
  });
  // Not every caller waits.
  first.promise.catch(() => {});
  return { token, events, socket, opened: first.promise, isOpen: () => isOpen };
}

/** Opens streams of tokens in turn, and waits for the first event of each. */
export async function watchAll(
  port: number,
  { streams, tokens }: { streams: number; tokens: number },
  query?: string,
): Promise<Viewer[]> {
  const limit = pLimit(50);
  return limit.map(
    Array.from({ length: streams }, (_, index) => `${tokenStart}${index % tokens}`),
    async (token) => {
      const viewer = watch(port, token, query);
      await viewer.opened;
      return viewer;
    },
  );
}

/** Closes the connections. */
export function closeAll(viewers: readonly Viewer[]): void {
  for (const { socket } of viewers) socket.destroy();
}
