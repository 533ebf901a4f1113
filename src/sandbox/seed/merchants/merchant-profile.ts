import type { Organization, ShipmentStatus } from '../../interface/schemas.ts';
import type { KnownCustomer } from '../customers/customers.ts';

/** Something that a merchant sells. */
export interface Product {
  name: string;
  priceCents: number;
  weightKg: number;
  /** The box that it needs when it does not fit an ordinary one: length, width and height in cm. */
  box?: readonly [number, number, number];
  /** How often it is bought, among the others. */
  share: number;
}

/** An order chosen by hand, for documentation and limits. What it leaves out is made up as for any other order. */
export interface ScriptedOrder {
  /** The index of the customer, the known ones first. */
  customer?: number;
  product?: string;
  quantity?: number;
  contentDescription?: string;
  notes?: string;
  sellingPriceCents?: number;
  payment?: 'ON_DELIVERY' | 'BEFOREHAND';
  /** A status ships the order; `null` leaves it without a shipment. */
  shipment?: ShipmentStatus | null;
  quoted?: boolean;
  /** The index of the origin. */
  origin?: number;
  referenced?: boolean;
}

export interface OriginProfile {
  location: string;
  addressLines: string[];
  /** How much of the merchant's goods leaves from here. */
  share: number;
}

export interface ChannelProfile {
  active: boolean;
  phoneNumber: string;
  /** How many of the merchant's template blueprints, from the start, the channel has. */
  templates: number;
}

/** All that makes one merchant unlike the other. */
export interface MerchantProfile {
  /** Starts every identifier, such as `ca` in `orders/ca2481`. */
  prefix: string;
  token: string;
  /** For the PRNG. */
  seed: number;
  organization: Organization;
  tradeName: string;
  storeUrl: string;
  orders: { count: number; days: number; today: number };
  customers: { count: number; known: readonly KnownCustomer[]; phonePrefixes: readonly string[] };
  origins: readonly OriginProfile[];
  products: readonly Product[];
  notes: readonly string[];
  /** By order number. */
  scripted: Readonly<Record<number, ScriptedOrder>>;
  channels: readonly ChannelProfile[];
  conversations: {
    count: number;
    /** How many messages a conversation holds, by its number, where it matters. */
    lengths: Readonly<Record<number, number>>;
    /** The index of the customer who is spoken to, by the conversation's number. */
    customers: Readonly<Record<number, number>>;
    /** The number of the conversation that sends each template of its channel in turn. */
    showcase: number;
    /** Conversations with a message from a template that has been deleted since. */
    withDeletedTemplate: readonly number[];
  };
}
