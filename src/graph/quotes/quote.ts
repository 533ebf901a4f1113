import type { GraphQLResolveInfo } from 'graphql';
import type { Loaders } from '../../loaders/loaders.ts';
import { isNameOf, resourceName } from '../../rest/resource-name.ts';
import type { OfferJson, PackageDimensionsJson, PackageJson, QuoteJson } from '../../rest/wire-schema.ts';
import { cheapest, fastest, isAvailable, readOffers } from '../../writes/offer-selection.ts';
import { type NamedRecord, restoredRecordMissing } from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import { Money, money, shipmentCurrency } from '../fields/money.ts';
import { relatedRecord } from '../fields/related-record.ts';
import { Order } from '../orders/order.ts';
import { Location } from '../places/location.ts';
import { Node, registerNode } from '../relay/node.ts';
import { Courier, courierNamed } from './courier.ts';

const PackageDimensions = builder.objectRef<PackageDimensionsJson>('PackageDimensions').implement({
  description: 'The outer size of a package.',
  fields: (t) => ({
    lengthCm: t.exposeFloat('lengthCm', { nullable: false, description: 'Length in centimetres.' }),
    widthCm: t.exposeFloat('widthCm', { nullable: false, description: 'Width in centimetres.' }),
    heightCm: t.exposeFloat('heightCm', { nullable: false, description: 'Height in centimetres.' }),
  }),
});

export const Package = builder.objectRef<PackageJson>('Package').implement({
  description: 'The package that a quote was asked for.',
  fields: (t) => ({
    declaredValue: t.field({
      type: Money,
      description: 'The value of the content, as declared.',
      resolve: (parcel, _args, { currency }) => money(parcel.declaredValueCents, currency),
    }),
    dimensions: t.expose('dimensions', { type: PackageDimensions, description: 'The outer size.' }),
    weightKg: t.exposeFloat('weightKg', { description: 'The weight in kilograms.' }),
    contentDescription: t.exposeString('contentDescription', { description: 'What is in it.' }),
  }),
});

export const Offer = builder.objectRef<OfferJson>('Offer').implement({
  description: 'What one courier offers for a package.',
  fields: (t) => ({
    courier: t.field({
      type: Courier,
      nullable: false,
      description: 'Who offers.',
      resolve: (offer) => courierNamed(offer.courier),
    }),
    status: t.exposeString('status', {
      nullable: false,
      description: '`SUCCESS`, or the reason why this courier has no offer.',
    }),
    available: t.boolean({
      nullable: false,
      description: 'Whether a shipment can be created from it: its status is `SUCCESS`.',
      resolve: isAvailable,
    }),
    shipmentCost: t.field({
      type: Money,
      description: 'What the shipment costs.',
      resolve: (offer) => money(offer.shipmentCostCents, shipmentCurrency),
    }),
    returnShipmentCost: t.field({
      type: Money,
      description: 'What it costs to bring the package back.',
      resolve: (offer) => money(offer.returnShipmentCostCents, shipmentCurrency),
    }),
    estimatedDeliveryOperatingDays: t.exposeFloat('estimatedDeliveryOperatingDays', {
      description: 'How long delivery is expected to take, in working days.',
    }),
  }),
});

export const Quote = builder.objectRef<QuoteJson>('Quote').implement({
  description: "The couriers' offers for one package between two locations.",
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.expose('createTime', { type: 'DateTime', description: 'When it was asked for.' }),
    updateTime: t.expose('updateTime', { type: 'DateTime', description: 'When it last changed.' }),
    order: t.field({
      type: Order,
      description:
        'The order that it was asked for. Costs `GET /v1/orders/{id}` unless only its id is selected.',
      resolve: (quote, _args, { loaders }, info) => relatedRecord('orders', quote.order, loaders, info),
    }),
    origin: t.field({
      type: Location,
      description:
        'Where the package is collected. Costs a filtered `GET /v1/locations` unless only its id is selected.',
      resolve: (quote, _args, { loaders }, info) => relatedRecord('locations', quote.origin, loaders, info),
    }),
    destination: t.field({
      type: Location,
      description:
        'Where the package goes. Costs a filtered `GET /v1/locations` unless only its id is selected.',
      resolve: (quote, _args, { loaders }, info) =>
        relatedRecord('locations', quote.destination, loaders, info),
    }),
    package: t.expose('package', { type: Package, description: 'The package that the offers are for.' }),
    cashOnDelivery: t.field({
      type: Money,
      description: 'What the courier is to collect on delivery.',
      resolve: (quote, _args, { currency }) => money(quote.cashOnDeliveryRequestCents, currency),
    }),
    offers: t.expose('offers', {
      type: [Offer],
      nullable: { list: false, items: false },
      description: 'What each courier answered, also those that have no offer.',
      extensions: { estimatedItems: 10 },
    }),
    cheapestOffer: t.field({
      type: Offer,
      description: 'The available offer that costs least; the faster one among equals, then by courier id.',
      resolve: (quote) => cheapest(readOffers(quote)),
    }),
    fastestOffer: t.field({
      type: Offer,
      description:
        'The available offer that arrives first; the cheaper one among equals, then by courier id.',
      resolve: (quote) => fastest(readOffers(quote)),
    }),
  }),
});

registerNode({
  typename: 'Quote',
  owns: (id) => isNameOf('quotes', id),
  load: (id, { quoteById }) => quoteById.load(id),
});

builder.queryField('quote', (t) =>
  t.field({
    type: Quote,
    description: 'One quote, or null where there is none. Costs `GET /v1/quotes/{id}`.',
    args: { id: t.arg.id({ required: true, description: '`quotes/<identifier>` or the bare identifier.' }) },
    resolve: (_root, { id }, { loaders }) => loaders.quoteById.load(resourceName('quotes', id)),
  }),
);

/**
 * Loads the quote of a mutation. For a repeated key it is a name, which costs `GET /v1/quotes/{id}` unless only the id is
 * selected.
 * @throws StatusError if REST no longer has the quote
 */
export async function loadCreatedQuote(
  quote: QuoteJson | NamedRecord,
  loaders: Loaders,
  info: GraphQLResolveInfo,
): Promise<QuoteJson> {
  if ('offers' in quote) return quote;
  const { name } = quote;
  return (await relatedRecord('quotes', name, loaders, info)) ?? restoredRecordMissing(name);
}
