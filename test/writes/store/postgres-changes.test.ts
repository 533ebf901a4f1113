import { expect, test } from 'vitest';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { createChanges } from '../../../src/writes/store/postgres-changes.ts';

test('the end of a claim that failed is tried again even when the store takes no further change', async () => {
  const executed: string[] = [];
  let isOpen = true;
  let fails = true;
  const changes = createChanges(
    async (all) => {
      if (fails) throw new StoreUnavailableError('Too many requests wait.');
      executed.push(...all.map(({ kind }) => kind));
      return new Set(all.keys());
    },
    () => {
      if (!isOpen) throw new StoreUnavailableError('The key store is closed.');
    },
  );
  const claim = { key: { merchant: 'merchant', id: 'key' }, owner: 'owner.1' };
  await expect(changes.add('abandon', claim, 'progress')).rejects.toThrow(StoreUnavailableError);
  await expect(changes.add('checkpoint', claim, 'progress')).rejects.toThrow(StoreUnavailableError);
  fails = false;
  isOpen = false;
  await expect(changes.add('checkpoint', claim, 'progress')).rejects.toThrow('The key store is closed.');
  await changes.retry();
  expect(executed).toEqual(['abandon']);
});
