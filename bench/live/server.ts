import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { requestText } from '../load.ts';
import { waybill } from '../peers/servers.ts';
import { type Server, startServer } from '../server-process.ts';
import type { Holdings } from '../soak/probe.ts';
import { type BoardRest, startBoardRest } from './boards.ts';

/** How many streams a part opens, and of how many tokens. */
export interface Size {
  streams: number;
  tokens: number;
}

/** What a part found. Without misses, all that is asked of it holds. */
export interface Report {
  head: string[];
  rows: string[][];
  misses: string[];
}

/** The server in a process of its own, before the REST service of the boards. */
export interface LiveServer {
  port: number;
  rest: BoardRest;
  server: Server;
  /** What the server holds after a garbage collection. */
  holdings(): Promise<Holdings>;
  /** The value of `waybill_live_streams`. */
  openStreams(): Promise<number>;
  /** Waits until no stream is open, for 20 seconds at most. @returns the number that is still open */
  noStreams(): Promise<number>;
  /** Asks a query. @returns the text of the response */
  ask(query: string, token: string): Promise<string>;
  stop(): void;
}

/** Starts the server, as `npm start` does, and its REST service. */
export async function startLiveServer(): Promise<LiveServer> {
  const rest = await startBoardRest();
  const probe = ['--expose-gc', `--import=${join(import.meta.dirname, '../soak/probe.ts')}`];
  const entry = {
    ...waybill,
    args: [...probe, ...waybill.args],
    env: { ...waybill.env, METRICS: 'yes', DRAIN_WAIT_MS: '0' },
  };
  const server = await startServer(entry, rest.url, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { port } = server;

  async function openStreams(): Promise<number> {
    const headers = { connection: 'close' };
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
    return Number(/^waybill_live_streams (\d+)$/m.exec(page)?.[1]);
  }

  return {
    port,
    rest,
    server,
    async holdings() {
      server.process.send('tell');
      return (await once(server.process, 'message'))[0];
    },
    openStreams,
    async noStreams() {
      let open = await openStreams();
      for (let tries = 0; open > 0 && tries < 200; tries += 1) {
        await pause(100);
        open = await openStreams();
      }
      return open;
    },
    async ask(query, token) {
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        body: JSON.stringify({ query }),
      });
      return response.text();
    },
    stop() {
      server.stop();
      rest.close();
    },
  };
}

/** The small query whose wait is measured. Costs one call to REST. */
export const smallQuery = '{ organization { id } }';

/** The small query of another token than those of the streams. */
export const smallRequest = requestText({
  path: '/graphql',
  token: 'token-of-queries',
  headers: ['content-type: application/json'],
  body: JSON.stringify({ query: smallQuery }),
});
