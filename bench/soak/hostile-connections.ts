import { connect, type Socket } from 'node:net';
import { look, outcomeOf } from './answer.ts';
import type { Attack, Target } from './hostile-requests.ts';
import { tenants, tokenOf } from './upstream.ts';

// What no client of HTTP would do, on connections of their own.

// A connection that the server has not ended by then is ended from here.
const patienceMs = 5_000;

const large = `{ ${Array.from({ length: 4 }, (_, n) => `a${n}: shipments(first: 100) { nodes { id status recipient { fullName address { addressLines } } } }`).join(' ')} }`;

const chunk = Buffer.from(`${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`);

function head(tenant: number, ...lines: string[]): string {
  const authorization = `authorization: Bearer ${tokenOf(tenant)}`;
  const all = [
    'POST /graphql HTTP/1.1',
    'host: a',
    'content-type: application/json',
    authorization,
    ...lines,
  ];
  return `${all.join('\r\n')}\r\n\r\n`;
}

function whole(tenant: number, query: string): string {
  const body = JSON.stringify({ query });
  return `${head(tenant, `content-length: ${Buffer.byteLength(body)}`)}${body}`;
}

/** Opens a connection, does something on it, and looks at what came once it has ended. */
function onConnection(act: (socket: Socket, tenant: number) => void): Attack {
  return ({ url, watch }: Target, index) =>
    new Promise((resolve) => {
      const tenant = index % tenants;
      const socket = connect(Number(url.port), url.hostname);
      let received = '';
      let wasPatient = true;
      const timer = setTimeout(() => {
        wasPatient = false;
        socket.destroy();
      }, patienceMs);
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      socket.once('connect', () => act(socket, tenant));
      socket.once('close', () => {
        clearTimeout(timer);
        const status = Number(received.split(' ')[1] ?? 0);
        look(watch, status, received, tenant);
        const told = received === '' ? 'nothing' : outcomeOf(status, received);
        resolve(`${told}${wasPatient ? '' : ', left open'}`);
      });
    });
}

export const hostileConnections: Record<string, Attack> = {
  garbage: onConnection((socket) => socket.write(Buffer.from('\u0000\u0001 garbage \r\n\r\n'))),
  'no end of headers': onConnection((socket) => socket.write(`GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}`)),
  'a chunked body of 1.2 MB': onConnection((socket, tenant) => {
    socket.write(head(tenant, 'transfer-encoding: chunked'));
    for (let sent = 0; sent < 12; sent += 1) socket.write(chunk);
  }),
  'a body that stops': onConnection((socket, tenant) =>
    socket.write(`${head(tenant, 'content-length: 900')}{"query":`),
  ),
  'a slow sender': onConnection((socket, tenant) => {
    const request = whole(tenant, '{ organization { id } }');
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(request.slice(sent, sent + 20));
      sent += 20;
    }, 200);
    socket.once('close', () => clearInterval(timer));
  }),
  // More than the buffers between here and there hold, so that the server has to wait.
  'a slow reader': onConnection((socket, tenant) => {
    socket.pause();
    const authorization = `authorization: Bearer ${tokenOf(tenant)}`;
    socket.write(`GET /labels/fault-large.pdf HTTP/1.1\r\nhost: a\r\n${authorization}\r\n\r\n`);
    setTimeout(() => socket.destroy(), 4_000).unref();
  }),
  'gone at once': onConnection((socket, tenant) => socket.end(whole(tenant, large))),
  'gone in mid-query': onConnection((socket, tenant) => {
    socket.write(whole(tenant, large));
    setTimeout(() => socket.destroy(), 3);
  }),
  'gone in mid-answer': onConnection((socket, tenant) => {
    socket.write(whole(tenant, large));
    socket.once('data', () => socket.resetAndDestroy());
  }),
  'gone in mid-body': onConnection((socket, tenant) => {
    socket.write(`${head(tenant, 'content-length: 900')}{"query":`);
    setTimeout(() => socket.resetAndDestroy(), 5);
  }),
  'gone while REST hangs': onConnection((socket, tenant) => {
    socket.write(whole(tenant, '{ order(id: "fault-hang-gone") { id } }'));
    setTimeout(() => socket.destroy(), 20);
  }),
};
