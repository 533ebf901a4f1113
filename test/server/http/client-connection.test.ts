import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ClientConnection } from '../../../src/server/http/client-connection.ts';

test('a closed connection does not keep its latest response', () => {
  const socket = new EventEmitter();
  // ClientConnection uses no other member of them here.
  const connection = new ClientConnection(socket as Socket);
  connection.addRequest(new EventEmitter() as ServerResponse);
  expect(connection.isUnused).toBe(false);
  socket.emit('close');
  expect(connection.isUnused).toBe(true);
});
