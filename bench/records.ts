import type {
  LocationJson,
  MessageJson,
  OrderJson,
  OriginJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../src/rest/wire-schema.ts';

// The records of a merchant, the same at each start. The newest is first, as in the lists of REST.

const count = 1_000;
const newest = Date.parse('2026-11-02T14:00:00Z');
const couriers = ['couriers/veloz', 'couriers/andina', 'couriers/costera', 'couriers/cumbre'];
const cities = ['Medellín', 'Bogotá', 'Cali', 'Barranquilla', 'Bucaramanga'];
const orderStatuses = ['READY', 'IN_PROGRESS', 'DELIVERED', 'DELIVERED', 'RETURN'];
const shipmentStatuses = ['LABEL_GENERATED', 'IN_PROGRESS', 'OUT_FOR_DELIVERY', 'DELIVERED', 'RETURN'];

// No list of values is empty.
const of = <Value>(values: readonly Value[], index: number): Value => values[index % values.length] as Value;
const minutesAgo = (minutes: number) => new Date(newest - minutes * 60_000).toISOString();

function recipient(index: number): RecipientJson {
  return {
    firstName: of(['María', 'Juan', 'Luisa', 'Andrés', 'Camila', 'Óscar'], index),
    lastName: of(['Restrepo Gil', 'Gómez', 'Zapata Ruiz', 'Muñoz'], index),
    documentType: 'CC',
    document: String(1_017_200_000 + index),
    email: `customer${index}@example.com`,
    phoneNumber: `+57300${1_000_000 + index}`,
    address: {
      regionCode: 'CO',
      administrativeArea: 'Antioquia',
      locality: of(cities, index),
      addressLines: [`Carrera ${index % 90} # ${index % 50}-${index % 70}`, `Apartamento ${index % 1200}`],
      organization: '',
    },
  };
}

function order(index: number): OrderJson {
  return {
    name: `orders/or${count - index}`,
    createTime: minutesAgo(index * 30 + 60),
    updateTime: minutesAgo(index * 30),
    status: of(orderStatuses, index),
    recipient: { ...recipient(index), location: `locations/lo${index % 200}` },
    contentDescription: `Camisetas de algodón, paquete ${count - index}`,
    notes: 'Entregar en portería, llamar antes de subir.',
    sellingPriceCents: 8_990_000 + index * 1_000,
    cashOnDeliveryRequestCents: index % 2 === 0 ? 8_990_000 : 0,
    shipment: `shipments/sh${count - shipmentPlace(index)}`,
    customerReliability: 'RELIABLE',
    customerBehavior: {
      totalShipments: 12,
      deliveredShipments: 11,
      returnedShipments: 1,
      reliability: 'RELIABLE',
    },
    referenceId: String(5_600_000 + index),
    referenceGid: `gid://store/Order/${5_600_000 + index}`,
    referenceUrl: `https://store.example.com/orders/${5_600_000 + index}`,
    paymentMethods: ['CASH_ON_DELIVERY'],
    fulfiller: 'OPERATOR',
  };
}

/** Shipments have another order than orders: each block of ten is reversed. */
function shipmentPlace(orderIndex: number): number {
  return orderIndex - (orderIndex % 10) + (9 - (orderIndex % 10));
}

function shipment(index: number): ShipmentJson {
  return {
    name: `shipments/sh${count - index}`,
    createTime: minutesAgo(index * 30 + 20),
    updateTime: minutesAgo(index * 30),
    quote: `quotes/qu${count - index}`,
    courier: of(couriers, index),
    origin: `origins/og${index % 5}`,
    recipient: recipient(shipmentPlace(index)),
    requiresPickup: index % 3 === 0,
    status: of(shipmentStatuses, index),
    shipmentCostCents: 1_240_000 + index,
    cashOnDeliveryCostCents: 180_000,
    totalCostCents: 1_420_000 + index,
    label: `labels/la${count - index}`,
    labelUrl: `https://labels.example.com/la${count - index}.pdf?expires=1793000000&signature=5b2c7e0a9d41f3`,
  };
}

function quote(index: number): QuoteJson {
  return {
    name: `quotes/qu${count - index}`,
    createTime: minutesAgo(index * 30 + 40),
    updateTime: minutesAgo(index * 30 + 40),
    origin: `locations/lo${index % 5}`,
    destination: `locations/lo${shipmentPlace(index) % 200}`,
    package: {
      declaredValueCents: 8_990_000,
      dimensions: { lengthCm: 30, widthCm: 20, heightCm: 10 },
      weightKg: 1.5,
      contentDescription: 'Camisetas de algodón',
    },
    cashOnDeliveryRequestCents: 8_990_000,
    order: `orders/or${count - shipmentPlace(index)}`,
    offers: couriers.map((courier, place) => ({
      courier,
      status: place === 3 ? 'OUT_OF_COVERAGE' : 'SUCCESS',
      shipmentCostCents: 1_240_000 + place * 110_000,
      returnShipmentCostCents: 900_000,
      estimatedDeliveryOperatingDays: 2 + place,
    })),
  };
}

function origin(index: number): OriginJson {
  return {
    name: `origins/og${index}`,
    location: `locations/lo${index}`,
    address: {
      regionCode: 'CO',
      administrativeArea: 'Antioquia',
      locality: of(cities, index),
      addressLines: [`Calle ${10 + index} # 43-20`, `Bodega ${index}`],
      organization: 'Tienda Ejemplo',
    },
  };
}

function location(index: number): LocationJson {
  const address = { regionCode: 'CO', administrativeArea: 'Antioquia', locality: of(cities, index) };
  return { name: `locations/lo${index}`, address };
}

const messages = 'channels/ch1/conversations/co1/messages';

function message(index: number): MessageJson {
  const createTime = minutesAgo(index);
  return {
    name: `${messages}/me${20 - index}`,
    createTime,
    status: 'READ',
    contentType: 'TEXT',
    text: 'Hola',
  };
}

const rows = <Row>(row: (index: number) => Row, length = count): Row[] =>
  Array.from({ length }, (_, index) => row(index));

/** Every list of REST, by its path below `/v1/`. */
export const lists: ReadonlyMap<string, readonly { name: string }[]> = new Map<string, { name: string }[]>([
  ['orders', rows(order)],
  ['shipments', rows(shipment)],
  ['quotes', rows(quote)],
  ['origins', rows(origin, 5)],
  ['locations', rows(location, 200)],
  [messages, rows(message, 20)],
]);

/** The most characters in the notes of an order ("Order"), without those of a merchant's mark. */
const longestNotes = 2_048 - 't10x '.length;

/** Orders with the longest notes, and a street of this length, of one character. */
export const ordersWithLongTexts = (character: string, streetLength: number): OrderJson[] =>
  rows(order).map((short) => {
    const { recipient } = short;
    const address = { ...recipient.address, addressLines: [character.repeat(streetLength), ''] };
    return { ...short, notes: character.repeat(longestNotes), recipient: { ...recipient, address } };
  });

/** The response to `GET /v1/organizations/mine`. */
export const organization = { name: 'organization/or1', balanceCents: 5_000_000, creditLimitCents: 0 };

/** The identifiers of all orders, for requests of one order at a time. */
export const orderIds = rows((index) => `or${count - index}`);
