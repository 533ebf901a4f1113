import { useSyncExternalStore } from 'react';
import type { BoardQueryVariables, OrderStatus } from './gql/graphql';

/** Filters are in the address, so that a reload and a shared link keep them. */
export interface Filters {
  status: OrderStatus[];
  shipment: 'any' | 'none' | 'stuck';
  search: string;
}

export const statuses: OrderStatus[] = [
  'NEW',
  'CONFIRMED',
  'READY',
  'IN_PROGRESS',
  'DELIVERED',
  'RETURN',
  'CANCELLED',
];

const subscribe = (onChange: () => void) => {
  window.addEventListener('popstate', onChange);
  return () => window.removeEventListener('popstate', onChange);
};

export function useFilters(): [Filters, (filters: Filters) => void] {
  const query = new URLSearchParams(useSyncExternalStore(subscribe, () => window.location.search));
  const shipment = query.get('shipment');
  const filters: Filters = {
    status: statuses.filter((status) => query.get('status')?.split(',').includes(status)),
    shipment: shipment === 'none' || shipment === 'stuck' ? shipment : 'any',
    search: query.get('q') ?? '',
  };
  return [filters, write];
}

function write({ status, shipment, search }: Filters): void {
  const query = new URLSearchParams();
  if (status.length > 0) query.set('status', status.join(','));
  if (shipment !== 'any') query.set('shipment', shipment);
  if (search) query.set('q', search);
  history.replaceState(null, '', `?${query.toString().replaceAll('%2C', ',')}`);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Names statuses with the filters that REST does not have: these then cost a page or two in a shop of any size. */
export function toVariables({ status, shipment, search }: Filters): BoardQueryVariables {
  const names = (open: OrderStatus[]) => (status.length > 0 ? status : open);
  return {
    ...(search.trim() && { search: search.trim() }),
    ...(shipment === 'any' && status.length > 0 && { status }),
    ...(shipment === 'none' && { status: names(['NEW', 'CONFIRMED', 'READY']), hasShipment: false }),
    ...(shipment === 'stuck' && {
      status: names(['READY', 'IN_PROGRESS']),
      shipmentStatus: ['WITH_ERROR', 'READY_FOR_PICKUP'],
    }),
  };
}
