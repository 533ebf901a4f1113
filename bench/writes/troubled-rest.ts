import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { conflict, notFound } from '../../src/sandbox/interface/service-error.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Random } from '../../src/sandbox/seed/random.ts';
import { createForeignRecords } from './foreign-records.ts';

/** What is wrong with REST, or with a proxy in front of REST. */
export type Trouble = 'lagging reads' | 'repeated POSTs' | 'foreign answers' | 'look-alikes';

/** The troubles in which Waybill keeps all promises. A look-alike has no other name, and Waybill compares no texts. */
export const troubles: readonly Trouble[] = ['lagging reads', 'repeated POSTs', 'foreign answers'];

/** A POST that Waybill sent. */
export interface Post {
  /** The last part of the path: `orders`, `quotes`, `shipments` or `messages`. */
  kind: string;
  /** When REST did the write, in milliseconds of `performance.now()`. Undefined if REST did not do the write. */
  doneAtMs?: number;
  /** The records that REST made: two after a repeated POST. */
  names: string[];
  /** The quote of a shipment. */
  quote?: string;
}

/** The requests of one key, or one request without a key. They have access tokens that no other requests have. */
export interface Sender {
  /** The text of the whole write, which may have several keys. */
  marker: string;
  /** Decides what becomes of each POST. */
  random: Random;
  posts: Post[];
  /** Adds a line about a call to the history of the write. */
  note(line: string): void;
}

/** A REST service in trouble. */
export interface TroubledRest {
  url: string;
  /** Issues a token whose calls belong to the sender. */
  issueToken(sender: Sender): string;
  /** Makes this response to a POST available as a foreign answer. */
  addForeign(kind: string, json: string): void;
  /** Waits for the end of all calls, also of late writes. @throws the error of a call that this service could not handle. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

interface Response {
  status: number;
  text: string;
}

/** How long reads do not show a new order, shipment or message, in milliseconds. */
const lagMs = 2_000;

/** How long after a gateway's response REST does a late write, in milliseconds. */
const lateMs = 1_500;

/** What becomes of a POST: whether REST does the write, and what Waybill gets instead of the response. */
interface Fate {
  isDone: boolean | 'late';
  /** `cut` resets the connection. `repeated` sends the POST twice. `foreign` sends the record of another write. */
  instead: 'nothing' | 'cut' | 'repeated' | 'foreign' | number;
}

/** REST responds with the record of another write, and does the write or not. */
const foreignFates: readonly (readonly [Fate, weight: number])[] = [
  [{ isDone: true, instead: 'nothing' }, 2],
  [{ isDone: true, instead: 'foreign' }, 1],
  [{ isDone: false, instead: 'foreign' }, 1],
];

const fates: Record<Trouble, readonly (readonly [Fate, weight: number])[]> = {
  'lagging reads': [
    [{ isDone: true, instead: 'nothing' }, 10],
    [{ isDone: true, instead: 'cut' }, 3],
    [{ isDone: true, instead: 500 }, 1],
    [{ isDone: true, instead: 502 }, 1],
    [{ isDone: true, instead: 503 }, 1],
    [{ isDone: true, instead: 504 }, 1],
    [{ isDone: true, instead: 524 }, 1],
    [{ isDone: 'late', instead: 504 }, 1],
    [{ isDone: 'late', instead: 524 }, 1],
  ],
  'repeated POSTs': [
    [{ isDone: true, instead: 'nothing' }, 2],
    [{ isDone: true, instead: 'repeated' }, 3],
  ],
  'foreign answers': foreignFates,
  'look-alikes': foreignFates,
};

/**
 * Starts a REST service over the data of a sandbox, which has one kind of trouble with its POSTs. With repeated POSTs,
 * REST refuses a second shipment of a quote. Otherwise, it ships as often as it is asked to.
 * @param refusesReferences whether REST also refuses a second order with a reference if POSTs are repeated
 */
export async function startTroubledRest(
  sandbox: Sandbox,
  trouble: Trouble,
  refusesReferences: boolean,
): Promise<TroubledRest> {
  const senders = new Map<string, Sender>();
  const visibleAtMs = new Map<string, number>();
  /** The quotes that have a shipment, and the references that have an order. */
  const used = new Set<string>();
  const foreignRecords = createForeignRecords();

  const pending = new Set<Promise<void>>();
  function work(promise: Promise<void>): void {
    pending.add(promise);
    promise.then(
      () => pending.delete(promise),
      // `idle` throws the error.
      () => {},
    );
  }

  async function forward({ method = '', url = '', headers }: IncomingMessage, body: Buffer) {
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const response = await fetch(`${sandbox.url}${url}`, {
      method,
      headers: { authorization, 'content-type': type },
      ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  function isHidden(name: unknown): boolean {
    return performance.now() < (visibleAtMs.get(String(name)) ?? 0);
  }

  async function read(request: IncomingMessage, sender: Sender | undefined): Promise<Response> {
    const [path = ''] = (request.url ?? '').split('?');
    const name = path.slice('/v1/'.length);
    const response = isHidden(name)
      ? { status: 404, text: JSON.stringify(notFound(name).toJson()) }
      : await forward(request, Buffer.alloc(0));
    const list = path.split('/').at(-1) ?? '';
    if (response.status !== 200 || !/^(orders|shipments|messages)$/.test(list)) {
      sender?.note(`REST: GET ${request.url} returned ${response.status}`);
      return response;
    }
    const page: Record<string, { name: string }[]> = JSON.parse(response.text);
    const rows = page[list] ?? [];
    const shown = rows.filter((row) => !isHidden(row.name));
    const hidden = rows.filter((row) => isHidden(row.name)).map((row) => row.name);
    sender?.note(
      `REST: GET ${request.url} returned ${shown.length} rows, and not yet ${hidden.length} new ones`,
    );
    return { status: 200, text: JSON.stringify({ ...page, [list]: shown }) };
  }

  /** The refusal of a POST that can be done only once, if this REST refuses its repetition. */
  function refusalOf(kind: string, quote = '', referenceId = ''): Response | undefined {
    const once = kind === 'shipments' ? quote : kind === 'orders' && refusesReferences ? referenceId : '';
    if (trouble !== 'repeated POSTs' || once === '') return undefined;
    const { error } = conflict(`${once} is already used`).toJson();
    const status = kind === 'orders' ? 'ALREADY_EXISTS' : error.status;
    if (used.has(once)) return { status: 409, text: JSON.stringify({ error: { ...error, status } }) };
    used.add(once);
    return undefined;
  }

  /** Lets REST do a write, or refuse it. */
  async function write(
    request: IncomingMessage,
    body: Buffer,
    sender: Sender,
    post: Post,
  ): Promise<Response> {
    const { quote, referenceId }: { quote?: string; referenceId?: string } = JSON.parse(body.toString());
    if (quote !== undefined) post.quote = quote;
    const refusal = refusalOf(post.kind, quote, referenceId);
    if (refusal !== undefined) return refusal;
    const response = await forward(request, body);
    if (response.status >= 300) return response;
    const { name }: { name: string } = JSON.parse(response.text);
    post.names.push(name);
    post.doneAtMs ??= performance.now();
    foreignRecords.add({ marker: sender.marker, kind: post.kind, json: response.text });
    if (trouble === 'lagging reads' && post.kind !== 'quotes')
      visibleAtMs.set(name, performance.now() + lagMs);
    return response;
  }

  function fateOf(
    { marker, random }: Sender,
    kind: string,
    path: string,
    body: Buffer,
  ): Fate & { foreign?: string } {
    const fate = random.weighted(fates[trouble]);
    if (fate.instead !== 'foreign') return fate;
    const asked = { kind, path, body: body.toString() };
    const foreign = foreignRecords.pick(marker, random, asked, trouble === 'foreign answers');
    return foreign === undefined ? { isDone: true, instead: 'nothing' } : { ...fate, foreign };
  }

  async function answerPost(
    request: IncomingMessage,
    sender: Sender,
    body: Buffer,
  ): Promise<Response | undefined> {
    const kind = request.url?.split('/').at(-1) ?? '';
    const post: Post = { kind, names: [] };
    sender.posts.push(post);
    const { isDone, instead, foreign } = fateOf(sender, kind, request.url ?? '', body);
    const note = (answer: string) => {
      const done = post.names.length === 0 ? 'not done' : `done as ${post.names.join(' and ')}`;
      sender.note(`REST: POST ${request.url} was ${done}, and ${answer}`);
    };
    let response = isDone === true ? await write(request, body, sender, post) : undefined;
    if (isDone === 'late')
      work(
        pause(lateMs)
          .then(() => write(request, body, sender, post))
          .then(() => note('late')),
      );
    if (response !== undefined && response.status >= 300) {
      note(`returned ${response.status}`);
      return response;
    }
    if (instead === 'cut') {
      note('reset the connection');
      return undefined;
    }
    if (instead === 'repeated') response = await write(request, body, sender, post);
    if (foreign !== undefined) response = { status: 201, text: foreign };
    if (typeof instead === 'number') response = { status: instead, text: 'The gateway has no answer' };
    const { name }: { name?: string } = response?.text.startsWith('{') ? JSON.parse(response.text) : {};
    note([`returned ${response?.status}`, ...(name === undefined ? [] : [name]), `(${instead})`].join(' '));
    return response;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const sender = senders.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    const isPost = request.method === 'POST' && sender !== undefined;
    const found = isPost ? await answerPost(request, sender, body) : await read(request, sender);
    if (found === undefined) {
      request.socket.resetAndDestroy();
      return;
    }
    const type = found.text.startsWith('{') ? 'application/json' : 'text/html';
    response.writeHead(found.status, { 'content-type': type }).end(found.text);
  }

  const server = createServer((request, response) => {
    work(
      answer(request, response).catch((error: unknown) => {
        response.destroy();
        // A killed server breaks its connections in the middle of a request.
        if (request.complete) throw error;
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an AddressInfo: no pipe name and no null.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    issueToken(sender) {
      const token = sandbox.issueToken(sandbox.tokens.first);
      senders.set(token, sender);
      return token;
    },
    addForeign: (kind, json) => foreignRecords.add({ marker: '', kind, json }),
    async idle() {
      await Promise.all(pending);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.allSettled(pending);
    },
  };
}
