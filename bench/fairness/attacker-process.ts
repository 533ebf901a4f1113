import { connect } from 'node:net';
import { type Attack, bursts, sieges } from './attacks.ts';

// One attack, in a process of its own. The first message has its name and the port. The answer has the number of
// responses by status when a burst has ended, and on the second message.

export interface AttackOrder {
  name: string;
  port: number;
}

/** The number of responses by HTTP status. */
export type Statuses = Record<string, number>;

const statuses: Statuses = {};
let sent = 0;

const count = (status: string) => {
  statuses[status] = (statuses[status] ?? 0) + 1;
};

/** Sends requests on one connection until the attack ends. */
function attackOn(port: number, attack: Attack): Promise<void> {
  const { request, pipelined, repeats, reads } = attack;
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let open = 0;
    let rest = '';

    function send(): void {
      const requests = Array.from({ length: pipelined }, () => request(sent++));
      open = pipelined;
      socket.write(requests.join(''));
    }

    socket.on('data', (chunk) => {
      // Only the status lines are read. The last characters may be the start of one.
      const text = rest + chunk.toString('latin1');
      rest = text.slice(-11);
      for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        count(status);
        open -= 1;
      }
      if (open > 0) return;
      if (repeats) send();
      else resolve();
    });
    socket.on('error', () => count('connection lost'));
    socket.on('close', () => {
      // The response to the tenth pipelined request closes the connection.
      if (pipelined > 1 && open < pipelined) resolve(attackOn(port, attack));
      else resolve();
    });
    socket.once('connect', () => {
      if (!reads) socket.pause();
      send();
    });
  });
}

process.once('message', async ({ name, port }: AttackOrder) => {
  const attack = bursts[name] ?? sieges[name];
  if (attack === undefined) throw new Error(`There is no attack "${name}".`);
  process.once('message', () => process.send?.(statuses, undefined, undefined, () => process.exit()));
  await Promise.all(Array.from({ length: attack.connections }, () => attackOn(port, attack)));
  process.send?.(statuses, undefined, undefined, () => process.exit());
});
process.once('disconnect', () => process.exit());
