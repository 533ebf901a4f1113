import { cashOnDeliveryCost } from '../../couriers/rates.ts';
import type { CustomerBehavior, Order, Quote, Shipment, ShipmentStatus } from '../../interface/schemas.ts';
import { type Calendar, newestFirst } from '../calendar.ts';
import { toCustomerBehavior } from '../customers/customer-behavior.ts';
import type { Customer } from '../customers/customers.ts';
import type { MerchantProfile } from '../merchants/merchant-profile.ts';
import type { OrderDraft, QuoteDraft, ShipmentDraft } from './order-drafts.ts';

/** The orders, quotes and shipments of a merchant as REST resources, newest first. */
export interface OrderRecords {
  orders: Order[];
  quotes: Quote[];
  shipments: Shipment[];
}

type QuotedDraft = OrderDraft & { quote: QuoteDraft };
type ShippedDraft = QuotedDraft & { shipment: ShipmentDraft };

/** Turns drafts into REST resources. @param drafts newest first, as all lists of the result */
export function writeOrderRecords(
  profile: MerchantProfile,
  drafts: readonly OrderDraft[],
  calendar: Calendar,
): OrderRecords {
  const quoted = drafts
    .filter((draft): draft is QuotedDraft => draft.quote !== undefined)
    .sort((a, b) => newestFirst(a.quote.created, b.quote.created));
  const shipped = quoted
    .filter((draft): draft is ShippedDraft => draft.shipment !== undefined)
    .sort((a, b) => newestFirst(a.shipment.created, b.shipment.created));
  const quoteNames = namesByDraft(quoted, 'quotes', profile);
  const shipmentNames = namesByDraft(shipped, 'shipments', profile);
  const behaviors = behaviorsByCustomer(drafts);
  const orderName = (draft: OrderDraft) => `orders/${identifier(profile, draft.number)}`;
  return {
    orders: drafts.map((draft) =>
      writeOrder(
        profile,
        draft,
        orderName(draft),
        shipmentNames.get(draft),
        behaviors.get(draft.customer),
        calendar,
      ),
    ),
    quotes: quoted.map((draft) => {
      const { created, request, offers } = draft.quote;
      const time = calendar.iso(created);
      const name = nameOf(draft, quoteNames);
      return { name, createTime: time, updateTime: time, ...request, order: orderName(draft), offers };
    }),
    shipments: shipped.map((draft) =>
      writeShipment(profile, draft, nameOf(draft, shipmentNames), nameOf(draft, quoteNames), calendar),
    ),
  };
}

/** Identifiers count up with time. Their fixed width makes them sort as text. */
function identifier({ prefix }: MerchantProfile, number: number): string {
  return `${prefix}${String(number).padStart(4, '0')}`;
}

function namesByDraft(
  drafts: readonly OrderDraft[],
  collection: string,
  profile: MerchantProfile,
): Map<OrderDraft, string> {
  return new Map(
    drafts.map((draft, index) => [draft, `${collection}/${identifier(profile, drafts.length - index)}`]),
  );
}

function nameOf(draft: OrderDraft, names: ReadonlyMap<OrderDraft, string>): string {
  const name = names.get(draft);
  if (!name) throw new RangeError(`Order ${draft.number} has no such name`);
  return name;
}

function behaviorsByCustomer(drafts: readonly OrderDraft[]): Map<Customer, CustomerBehavior> {
  const statuses = new Map<Customer, ShipmentStatus[]>(drafts.map(({ customer }) => [customer, []]));
  for (const { customer, shipment } of drafts)
    if (shipment) statuses.get(customer)?.push(shipment.statusSince.status);
  return new Map([...statuses].map(([customer, list]) => [customer, toCustomerBehavior(list)]));
}

function writeOrder(
  profile: MerchantProfile,
  draft: OrderDraft,
  name: string,
  shipment: string | undefined,
  customerBehavior: CustomerBehavior = toCustomerBehavior([]),
  calendar: Calendar,
): Order {
  const { purchase } = draft;
  return {
    name,
    createTime: calendar.iso(draft.created),
    updateTime: calendar.iso(draft.statusSince.updated),
    status: draft.statusSince.status,
    recipient: draft.recipient,
    contentDescription: purchase.package.contentDescription,
    notes: draft.notes,
    sellingPriceCents: purchase.sellingPriceCents,
    cashOnDeliveryRequestCents: draft.payment === 'ON_DELIVERY' ? purchase.sellingPriceCents : 0,
    ...(shipment !== undefined && { shipment }),
    customerReliability: customerBehavior.reliability,
    customerBehavior,
    ...referenceOf(profile, draft),
    ...(draft.paymentMethods && { paymentMethods: draft.paymentMethods }),
    fulfiller: draft.fulfiller,
  };
}

/** The references of an order in a web shop. An order entered by hand has an id but no URL there. */
function referenceOf(
  { prefix, storeUrl, seed }: MerchantProfile,
  { number, referenced }: OrderDraft,
): Pick<Order, 'referenceId' | 'referenceGid' | 'referenceUrl'> {
  if (referenced === 'NOT') return {};
  if (referenced === 'BY_HAND') return { referenceId: `${prefix.toUpperCase()}-M${number}` };
  const referenceId = String(5_300_000_000_000 + seed * 1_000 + number * 32_768);
  return {
    referenceId,
    referenceGid: `gid://shopify/Order/${referenceId}`,
    referenceUrl: `${storeUrl}/admin/orders/${referenceId}`,
  };
}

function writeShipment(
  { prefix }: MerchantProfile,
  draft: ShippedDraft,
  name: string,
  quote: string,
  calendar: Calendar,
): Shipment {
  const { offer, statusSince, created, requiresPickup } = draft.shipment;
  const { location: _, ...recipient } = draft.recipient;
  const cashOnDeliveryCostCents = cashOnDeliveryCost(draft.quote.request.cashOnDeliveryRequestCents);
  return {
    name,
    createTime: calendar.iso(created),
    updateTime: calendar.iso(statusSince.updated),
    quote,
    courier: offer.courier,
    origin: `origins/${prefix}${draft.origin + 1}`,
    recipient,
    requiresPickup,
    status: statusSince.status,
    shipmentCostCents: offer.shipmentCostCents,
    cashOnDeliveryCostCents,
    totalCostCents: offer.shipmentCostCents + cashOnDeliveryCostCents,
    ...(statusSince.status !== 'GENERATING_LABEL' && { label: name.replace('shipments/', 'labels/') }),
  };
}
