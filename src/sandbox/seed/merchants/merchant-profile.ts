import type { Organization, ShipmentStatus } from '../../interface/schemas.ts';
import type { ScriptedCustomer } from '../customers/customers.ts';

/** A product of a merchant. */
export interface Product {
  name: string;
  priceCents: number;
  weightKg: number;
  /** Length, width and height in cm of a box of its own. By default one of the usual boxes. */
  box?: readonly [number, number, number];
  /** How often customers buy the product, relative to other products. */
  share: number;
}

/** Fixed fields of an order, for documentation and limits. Absent fields are generated as for any other order. */
export interface ScriptedOrder {
  /** The index of the customer. Scripted customers come first. */
  customer?: number;
  product?: string;
  quantity?: number;
  contentDescription?: string;
  notes?: string;
  sellingPriceCents?: number;
  payment?: 'ON_DELIVERY' | 'BEFOREHAND';
  /** The status of the shipment. `null` means no shipment. */
  shipment?: ShipmentStatus | null;
  /** Whether the order has a quote. */
  quoted?: boolean;
  /** The index of the origin. */
  origin?: number;
  /** True: the order has an id and a URL in a web shop. */
  referenced?: boolean;
}

/** A pickup origin of a merchant. */
export interface OriginProfile {
  location: string;
  addressLines: string[];
  /** How many orders leave from this origin, relative to other origins. */
  share: number;
}

/** A messaging channel of a merchant. */
export interface ChannelProfile {
  active: boolean;
  phoneNumber: string;
  /** How many template blueprints the channel has, counted from the first. */
  templates: number;
}

/** The input from which the seed generates a merchant. */
export interface MerchantProfile {
  /** The prefix of every identifier, such as `ca` in `orders/ca2481`. */
  prefix: string;
  token: string;
  /** The seed of the random generator, a 32-bit integer. */
  seed: number;
  organization: Organization;
  tradeName: string;
  storeUrl: string;
  /** `count` orders in all: `today` of them today, and the others over the `days` before. */
  orders: { count: number; days: number; today: number };
  customers: { count: number; scripted: readonly ScriptedCustomer[]; phonePrefixes: readonly string[] };
  origins: readonly OriginProfile[];
  products: readonly Product[];
  notes: readonly string[];
  /** Scripted orders by order number. */
  scripted: Readonly<Record<number, ScriptedOrder>>;
  channels: readonly ChannelProfile[];
  conversations: {
    count: number;
    /** Fixed message counts, by conversation number. */
    lengths: Readonly<Record<number, number>>;
    /** Fixed customer indexes, by conversation number. */
    customers: Readonly<Record<number, number>>;
    /** The number of the conversation that uses each template of its channel once. */
    showcase: number;
    /** Numbers of conversations with a message from a deleted template. */
    withDeletedTemplate: readonly number[];
  };
}
