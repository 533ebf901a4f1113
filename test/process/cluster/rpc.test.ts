import { expect, test } from 'vitest';
import { connect, type RpcChannel, type RpcPeer } from '../../../src/process/cluster/rpc.ts';

/** The two ends of a channel, which delivers messages asynchronously. */
function createChannel(): [RpcChannel, RpcChannel] {
  const listeners: ((message: unknown) => void)[] = [];
  const end = (own: number, other: number): RpcChannel => ({
    send: (message) => setImmediate(() => listeners[other]?.(message)),
    onMessage: (listener) => {
      listeners[own] = listener;
    },
  });
  return [end(0, 1), end(1, 0)];
}

interface Shop {
  price(name: string): Promise<number | undefined>;
  wait(): Promise<void>;
}

interface Customer {
  name(): Promise<string>;
}

function startShop() {
  const [left, right] = createChannel();
  const customer: RpcPeer<Customer> = connect<Customer, Shop>(
    left,
    {
      price: async (name) => {
        if (name === 'salt') throw new Error('no salt');
        return name === (await customer.call('name')) ? 7 : undefined;
      },
      wait: () => new Promise(() => {}),
    },
    (error) => `failed: ${error instanceof Error ? error.message : error}`,
  );
  return connect<Shop, Customer>(right, { name: async () => 'tea' });
}

test('both ends call and respond, each call by itself', async () => {
  const { call } = startShop();
  const waiting = call('wait');
  expect(await Promise.all([call('price', 'tea'), call('price', 'rice')])).toEqual([7, undefined]);
  expect(await Promise.race([waiting, 'still waiting'])).toBe('still waiting');
});

test('a call that fails is rejected with the error text of the other end', async () => {
  await expect(startShop().call('price', 'salt')).rejects.toThrow('failed: no salt');
});

test('a disconnect rejects pending calls and later calls', async () => {
  const shop = startShop();
  const waiting = shop.call('wait');
  shop.disconnect('it closed');
  await expect(waiting).rejects.toThrow('it closed');
  await expect(shop.call('price', 'tea')).rejects.toThrow('it closed');
});
