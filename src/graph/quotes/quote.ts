import type { GraphQLResolveInfo } from 'graphql';
import { cheapest, fastest, isAvailable, readOffers } from '../../rest/offers.ts';
import type { OfferJson, PackageDimensionsJson, PackageJson, QuoteJson } from '../../rest/wire-schema.ts';
import { type NamedRecord, throwRestoredRecordMissing } from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { Money, money, shippingCost } from '../fields/money.ts';
import { optionalValue } from '../fields/optional-value.ts';
import { relatedRecord, relation } from '../fields/related-record.ts';
import { Order } from '../orders/order.ts';
import { Location } from '../places/location.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';
import { Courier, courierNamed } from './courier.ts';

const PackageDimensions = builder.objectRef<PackageDimensionsJson>('PackageDimensions').implement({
  description: 'The outer dimensions of a package.',
  fields: (t) => ({
    lengthCm: t.exposeFloat('lengthCm', { description: 'The length in centimetres.' }),
    widthCm: t.exposeFloat('widthCm', { description: 'The width in centimetres.' }),
    heightCm: t.exposeFloat('heightCm', { description: 'The height in centimetres.' }),
  }),
});

export const Package = builder.objectRef<PackageJson>('Package').implement({
  description: 'The package of a quote.',
  fields: (t) => ({
    declaredValue: t.field({
      type: Money,
      nullable: true,
      description: 'The declared value of the contents.',
      resolve: (parcel, _args, { currency }) => money(parcel.declaredValueCents, currency),
    }),
    dimensions: t.expose('dimensions', {
      type: PackageDimensions,
      nullable: true,
      description: 'The outer dimensions.',
    }),
    weightKg: t.exposeFloat('weightKg', { nullable: true, description: 'The weight in kilograms.' }),
    contentDescription: t.exposeString('contentDescription', {
      nullable: true,
      description: 'The contents of the package.',
    }),
  }),
});

export const Offer = builder.objectRef<OfferJson>('Offer').implement({
  description: "A courier's offer for a package, or the courier's rejection of the package.",
  fields: (t) => ({
    courier: t.field({
      type: Courier,
      description: 'The courier that sent this offer or rejection.',
      resolve: (offer) => courierNamed(offer.courier),
    }),
    status: t.exposeString('status', {
      description: 'The status: `SUCCESS`, or the reason why the courier makes no offer.',
    }),
    available: t.boolean({
      description: 'Whether a shipment can be created from this offer. True if the status is `SUCCESS`.',
      resolve: isAvailable,
    }),
    shipmentCost: t.field(shippingCost('The cost of the shipment.', (offer) => offer.shipmentCostCents)),
    returnShipmentCost: t.field(
      shippingCost('The cost of returning the package.', (offer) => offer.returnShipmentCostCents),
    ),
    estimatedDeliveryOperatingDays: t.exposeFloat('estimatedDeliveryOperatingDays', {
      nullable: true,
      description: 'The expected delivery time in working days.',
    }),
  }),
});

export const Quote = builder.objectRef<QuoteJson>('Quote').implement({
  description: "The couriers' offers for one package between two locations.",
  interfaces: [Node],
  fields: (t) => ({
    createTime: t.field(optionalValue('DateTime', 'The time of creation.', (record) => record.createTime)),
    updateTime: t.field(
      optionalValue('DateTime', 'The time of the last change.', (record) => record.updateTime),
    ),
    order: t.field(relation(Order, 'orders', 'The order of the quote.', (quote) => quote.order)),
    origin: t.field(
      relation(
        Location,
        'locations',
        'The location where the courier collects the package.',
        (quote) => quote.origin,
      ),
    ),
    destination: t.field(
      relation(Location, 'locations', 'The delivery location of the package.', (quote) => quote.destination),
    ),
    package: t.expose('package', { type: Package, nullable: true, description: 'The package to deliver.' }),
    cashOnDelivery: t.field({
      type: Money,
      nullable: true,
      description: 'The amount that the courier collects on delivery.',
      resolve: (quote, _args, { currency }) => money(quote.cashOnDeliveryRequestCents, currency),
    }),
    offers: t.expose('offers', {
      type: [Offer],
      description: 'The offers and rejections of the couriers.',
      extensions: { estimatedItems: 10 },
    }),
    cheapestOffer: t.field({
      type: Offer,
      nullable: true,
      description:
        'The cheapest available offer, or null if no offer is available. Of offers with the same cost, the fastest. ' +
        'If these are equally fast, the first by courier id.',
      resolve: (quote) => cheapest(readOffers(quote)),
    }),
    fastestOffer: t.field({
      type: Offer,
      nullable: true,
      description:
        'The fastest available offer, or null if no offer is available. Of offers with the same delivery time, the ' +
        'cheapest. If these cost the same, the first by courier id.',
      resolve: (quote) => fastest(readOffers(quote)),
    }),
  }),
});

defineRecordQuery('quote', Quote, 'quotes');

/**
 * The options of a field with the quote of a mutation. For a repeated key the quote is a name, which costs
 * `GET /v1/quotes/{id}` unless only the id is selected. The resolver throws a StatusError if REST no longer has the quote.
 */
export const createdQuote = (description: string) => ({
  type: Quote,
  description,
  async resolve(
    { quote }: { quote: QuoteJson | NamedRecord },
    _args: object,
    { loaders }: Context,
    info: GraphQLResolveInfo,
  ): Promise<QuoteJson> {
    if ('offers' in quote) return quote;
    return (
      (await relatedRecord('quotes', quote.name, loaders, info)) ?? throwRestoredRecordMissing(quote.name)
    );
  },
});
