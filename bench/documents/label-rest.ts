/**
 * A REST service with any shipment, whose label it draws once. Its list has the shipments of its
 * arguments. Sends its address to its parent process.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drawnLabel } from './drawn-label.ts';

const labels = new Map<string, Uint8Array>();
const shipment = (id: string) => ({
  name: `shipments/${id}`,
  status: 'LABEL_GENERATED',
  label: `labels/${id}`,
  courier: 'couriers/fast',
});
const list = JSON.stringify({ shipments: process.argv.slice(2).map(shipment) });

const server = createServer(async (request, response) => {
  const [, id, label] = /^\/v1\/shipments\/([^/?]+)(\/label)?/.exec(request.url ?? '') ?? [];
  if (label !== undefined && id !== undefined) {
    const bytes = labels.get(id) ?? (await drawnLabel(id));
    labels.set(id, bytes);
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes);
    return;
  }
  const json = id === undefined ? list : JSON.stringify(shipment(id));
  response.writeHead(200, { 'content-type': 'application/json' }).end(json);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
// A server that listens on a port has an address of this form.
const { port } = server.address() as AddressInfo;
process.send?.(`http://127.0.0.1:${port}`);
process.once('disconnect', () => process.exit());
