import type {
  CreateOrderJson,
  CreateQuoteJson,
  CreateShipmentJson,
  UpdateOrderJson,
} from '../../src/rest/api-types.ts';

const recipient = {
  firstName: 'José',
  lastName: 'Ñáñez',
  email: 'jose@example.com',
  phoneNumber: '+573001234567',
  address: { addressLines: ['Calle 10 # 5-51', 'Apto 301'], organization: null },
};
export const newOrder: CreateOrderJson = {
  recipient: { ...recipient, location: 'locations/antioquia-medellin' },
  contentDescription: 'Café 🫘',
  notes: 'Portería',
  sellingPriceCents: 9_007_199_254_740_991,
  cashOnDeliveryRequestCents: 0,
};
export const orderUpdate: UpdateOrderJson = { order: { status: 'READY' }, updateMask: ['status'] };
export const newQuote: CreateQuoteJson = {
  origin: 'locations/1',
  destination: 'locations/2',
  package: { weightKg: 1.5 },
};
export const newShipment: CreateShipmentJson = {
  quote: 'quotes/4',
  courier: 'couriers/rapido',
  origin: 'origins/1',
  recipient,
  requiresPickup: true,
};

/** What is no order, and what it is instead. */
export const shapeless: [string, unknown][] = [
  ['null', null],
  ['a list', [{ name: 'orders/7' }]],
  ['a string', 'orders/7'],
  ['a number', 7],
  ['an object without a name', { id: 'orders/7' }],
  ['a name that is a number', { name: 7 }],
  ['a name in an unknown collection', { name: 'wrong/a' }],
  ['a name with a path traversal', { name: 'orders/../a' }],
  ['a name that is a bare identifier', { name: '7' }],
];
