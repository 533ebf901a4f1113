import { expect, test } from 'vitest';
import { connect, type RpcChannel, type RpcPeer } from '../../../src/process/cluster/rpc.ts';

/** Two ends of one line, on which messages arrive later. */
function createLine(): [RpcChannel, RpcChannel] {
  const takers: ((message: unknown) => void)[] = [];
  const end = (own: number, other: number): RpcChannel => ({
    send: (message) => setImmediate(() => takers[other]?.(message)),
    onMessage: (take) => {
      takers[own] = take;
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
  const [left, right] = createLine();
  const customer: RpcPeer<Customer> = connect<Customer, Shop>(
    left,
    {
      price: async (name) => {
        if (name === 'salt') throw new Error('no salt');
        return name === (await customer.call('name')) ? 7 : undefined;
      },
      wait: () => new Promise(() => {}),
    },
    (error) => `told: ${error instanceof Error ? error.message : error}`,
  );
  return connect<Shop, Customer>(right, { name: async () => 'tea' });
}

test('both ends ask and answer, each call for itself', async () => {
  const { call } = startShop();
  const waiting = call('wait');
  expect(await Promise.all([call('price', 'tea'), call('price', 'rice')])).toEqual([7, undefined]);
  expect(await Promise.race([waiting, 'still waiting'])).toBe('still waiting');
});

test('a call that fails is told in the words of the other end', async () => {
  await expect(startShop().call('price', 'salt')).rejects.toThrow('told: no salt');
});

test('who waits for an end that has gone is told, and who asks later too', async () => {
  const shop = startShop();
  const waiting = shop.call('wait');
  shop.hangUp('it closed');
  await expect(waiting).rejects.toThrow('it closed');
  await expect(shop.call('price', 'tea')).rejects.toThrow('it closed');
});
