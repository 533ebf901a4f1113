import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Attack, attacks } from './attacks.ts';

// One attack, in a process of its own. The first message has its name and the port. The answers are `running` once all
// connections have sent, and then the responses: when a burst has ended, and on the second message.

export interface AttackOrder {
  name: string;
  port: number;
}

/** The number of responses by HTTP status, and of some with errors or without a response. */
export type Statuses = Record<string, number>;

const statuses: Statuses = {};
let sent = 0;

const count = (status: string) => {
  statuses[status] = (statuses[status] ?? 0) + 1;
};

// A status line, or the errors of a response with HTTP 200.
const marks = /HTTP\/1\.1 (\d{3})|"errors":\[/g;
const longestMark = 'HTTP/1.1 200'.length;
// So often a slow reader reads.
const readsPerSecond = 10;
// Without a server, the attacker must not use up the core of the probes.
const reconnectMs = 100;

/** Sends requests on one connection after the other, until the attack ends. */
async function attackOn(port: number, attack: Attack, connection: number): Promise<void> {
  do {
    if (!(await attackOnce(port, attack, connection))) await pause(reconnectMs);
  } while (attack.next !== 'ends');
}

/** Sends requests until the connection is closed. @returns whether the server has accepted it. */
function attackOnce(port: number, attack: Attack, connection: number): Promise<boolean> {
  const { request, pipelined, next, bytesPerSecond, isByteByByte } = attack;
  const isSlow = bytesPerSecond > 0 && bytesPerSecond < Number.POSITIVE_INFINITY;
  return new Promise((resolve) => {
    let isOpened = false;
    let missing = 0;
    let rest = '';
    let status = '';

    function send(): void {
      const requests = Array.from({ length: pipelined }, () => request(sent++, connection));
      missing = pipelined;
      socket.cork();
      for (const bytes of requests) {
        if (isByteByByte) sendByteByByte(socket, Buffer.from(bytes));
        else socket.write(bytes);
      }
      socket.uncork();
      if (sent >= attack.connections * pipelined) tellRunning();
      if (requests[0]?.length !== 0) return;
      count('connected');
      socket.resetAndDestroy();
    }

    function look(bytes: string): void {
      const text = rest + bytes;
      let end = 0;
      for (const match of text.matchAll(marks)) {
        end = match.index + match[0].length;
        if (match[1] === undefined) {
          if (status === '200') count('200 with errors');
          continue;
        }
        status = match[1];
        count(status);
        missing -= 1;
      }
      // The last characters may be the start of a mark.
      rest = text.slice(Math.max(end, text.length - longestMark + 1));
    }

    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(isSlow ? bytesPerSecond / readsPerSecond : 65_536),
        callback(bytes, buffer) {
          const isWaiting = missing > 0;
          look(Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1'));
          if (isWaiting && missing <= 0) {
            if (next === 'sends again') send();
            else if (next === 'breaks') socket.resetAndDestroy();
            else if (next === 'ends') resolve(true);
          }
          if (isSlow) setTimeout(() => socket.resume(), 1_000 / readsPerSecond);
          return !isSlow;
        },
      },
    });
    if (bytesPerSecond === 0) socket.pause();
    socket.on('error', () => count(isOpened ? 'connection lost' : 'not connected'));
    socket.on('close', () => resolve(isOpened));
    socket.once('connect', () => {
      isOpened = true;
      send();
    });
  });
}

/** Sends each byte in a packet of its own, and leaves a turn of the event loop to the other connections. */
function sendByteByByte(socket: Socket, bytes: Buffer): void {
  let at = 0;
  const sendNext = () => {
    if (socket.destroyed || at >= bytes.length) return;
    at += 1;
    socket.write(bytes.subarray(at - 1, at), () => setImmediate(sendNext));
  };
  sendNext();
}

let isRunning = false;
function tellRunning(): void {
  if (isRunning) return;
  isRunning = true;
  process.send?.('running');
}

process.once('message', async ({ name, port }: AttackOrder) => {
  const attack = attacks[name];
  if (attack === undefined) throw new Error(`There is no attack "${name}".`);
  const tell = () => process.send?.(statuses, undefined, undefined, () => process.exit());
  process.once('message', tell);
  await Promise.all(Array.from({ length: attack.connections }, (_, n) => attackOn(port, attack, n)));
  tell();
});
process.once('disconnect', () => process.exit());
