import { useSyncExternalStore } from 'react';

const name = 'printed';
const listeners = new Set<() => void>();
const read = (): Record<string, number> => JSON.parse(localStorage.getItem(name) ?? '{}');
let printed = read();

/** When this browser has opened the label of a shipment for printing, by the id of the shipment. */
export const usePrinted = () =>
  useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => printed,
  );

export function markPrinted(shipments: readonly string[]): void {
  printed = { ...read(), ...Object.fromEntries(shipments.map((id) => [id, Date.now()])) };
  localStorage.setItem(name, JSON.stringify(printed));
  for (const listener of listeners) listener();
}
