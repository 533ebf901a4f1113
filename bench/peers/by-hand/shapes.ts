import type { OrderJson, OriginJson, QuoteJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';

// The JSON of each workload, field by field in the order of its document.

const cop = (cents: number | null | undefined) =>
  cents === undefined || cents === null ? null : { cents, currency: 'COP' };
const label = (shipment: ShipmentJson) =>
  shipment.label === undefined ? null : { id: shipment.label, url: shipment.labelUrl ?? null };

export function orderJson(order: OrderJson): object {
  const { recipient } = order;
  return {
    order: {
      id: order.name,
      status: order.status,
      createTime: order.createTime,
      updateTime: order.updateTime,
      contentDescription: order.contentDescription,
      notes: order.notes,
      referenceId: order.referenceId ?? null,
      fulfiller: order.fulfiller,
      customerReliability: order.customerReliability,
      sellingPrice: cop(order.sellingPriceCents),
      cashOnDelivery: cop(order.cashOnDeliveryRequestCents),
      paymentMethods: order.paymentMethods ?? null,
      recipient: {
        firstName: recipient.firstName,
        lastName: recipient.lastName,
        phoneNumber: recipient.phoneNumber,
        address: { locality: recipient.address.locality, addressLines: recipient.address.addressLines },
      },
    },
  };
}

export function shipmentsJson(
  orders: readonly OrderJson[],
  shipments: ReadonlyMap<string, ShipmentJson>,
): object {
  return {
    orders: {
      nodes: orders.map((order) => {
        const shipment = shipments.get(order.shipment ?? '');
        return {
          id: order.name,
          status: order.status,
          createTime: order.createTime,
          contentDescription: order.contentDescription,
          sellingPrice: cop(order.sellingPriceCents),
          recipient: {
            firstName: order.recipient.firstName,
            lastName: order.recipient.lastName,
            address: { locality: order.recipient.address.locality },
          },
          shipment:
            shipment === undefined
              ? null
              : {
                  id: shipment.name,
                  status: shipment.status,
                  courier: { id: shipment.courier },
                  totalCost: cop(shipment.totalCostCents),
                  label: label(shipment),
                },
        };
      }),
    },
  };
}

export function deepJson(
  orders: readonly OrderJson[],
  shipments: ReadonlyMap<string, ShipmentJson>,
  quotes: ReadonlyMap<string, QuoteJson>,
  origins: ReadonlyMap<string, OriginJson>,
): object {
  return {
    orders: {
      nodes: orders.map((order) => {
        const shipment = shipments.get(order.shipment ?? '');
        if (shipment === undefined) return { id: order.name, status: order.status, shipment: null };
        const origin = origins.get(shipment.origin ?? '');
        const quote = quotes.get(shipment.quote ?? '');
        return {
          id: order.name,
          status: order.status,
          shipment: {
            id: shipment.name,
            status: shipment.status,
            label: label(shipment),
            origin: origin && {
              id: origin.name,
              address: origin.address && {
                locality: origin.address.locality,
                addressLines: origin.address.addressLines,
              },
            },
            quote: quote && {
              id: quote.name,
              offers: quote.offers.map((offer) => ({
                courier: { id: offer.courier },
                status: offer.status,
                shipmentCost: cop(offer.shipmentCostCents),
                estimatedDeliveryOperatingDays: offer.estimatedDeliveryOperatingDays ?? null,
              })),
            },
          },
        };
      }),
    },
  };
}
