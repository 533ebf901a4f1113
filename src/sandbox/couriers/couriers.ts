import type { Region } from '../places/department.ts';

/** The prices and limits of a courier. All names are invented. */
export interface Courier {
  /** `couriers/<slug>` */
  name: string;
  displayName: string;
  /** The served regions. A courier without regions serves any route within one department. */
  regions: readonly Region[];
  maxDistanceKm: number;
  maxWeightKg: number;
  /** The largest amount to collect on delivery. 0 means no cash on delivery. */
  maxCashOnDeliveryCents: number;
  /** The volume that counts as one kilogram, in cubic centimetres. */
  volumetricDivisor: number;
  baseCents: number;
  perKilogramCents: number;
  /** The price for each kilogram and 100 km. */
  perKilogramAndDistanceCents: number;
  /** The share of the declared value for insurance. */
  insuranceRate: number;
  /** The cost of a return as a share of the transport cost. */
  returnRate: number;
  kmPerOperatingDay: number;
}

const mainland: readonly Region[] = ['ANDEAN', 'CARIBBEAN', 'PACIFIC', 'ORINOQUIA', 'AMAZONIA'];

/** All couriers of the sandbox. */
export const couriers: readonly Courier[] = [
  {
    name: 'couriers/rutandina',
    displayName: 'Rutandina',
    regions: [...mainland, 'ISLANDS'],
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 50,
    maxCashOnDeliveryCents: 300_000_000,
    volumetricDivisor: 2500,
    baseCents: 820_000,
    perKilogramCents: 95_000,
    perKilogramAndDistanceCents: 14_000,
    insuranceRate: 0.01,
    returnRate: 0.8,
    kmPerOperatingDay: 320,
  },
  {
    name: 'couriers/condor-veloz',
    displayName: 'Cóndor Veloz',
    regions: ['ANDEAN', 'CARIBBEAN', 'PACIFIC', 'ORINOQUIA', 'ISLANDS'],
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 25,
    maxCashOnDeliveryCents: 150_000_000,
    volumetricDivisor: 5000,
    baseCents: 1_240_000,
    perKilogramCents: 180_000,
    perKilogramAndDistanceCents: 22_000,
    insuranceRate: 0.012,
    returnRate: 1,
    kmPerOperatingDay: 700,
  },
  {
    name: 'couriers/chasqui-carga',
    displayName: 'Chasqui Carga',
    regions: mainland,
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 400,
    maxCashOnDeliveryCents: 500_000_000,
    volumetricDivisor: 2500,
    baseCents: 1_550_000,
    perKilogramCents: 42_000,
    perKilogramAndDistanceCents: 8_000,
    insuranceRate: 0.007,
    returnRate: 0.9,
    kmPerOperatingDay: 210,
  },
  {
    name: 'couriers/tierra-firme',
    displayName: 'Tierra Firme Envíos',
    regions: mainland,
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 30,
    maxCashOnDeliveryCents: 0,
    volumetricDivisor: 3000,
    baseCents: 690_000,
    perKilogramCents: 88_000,
    perKilogramAndDistanceCents: 12_000,
    insuranceRate: 0.009,
    returnRate: 0.75,
    kmPerOperatingDay: 260,
  },
  {
    name: 'couriers/tres-cordilleras',
    displayName: 'Tres Cordilleras',
    regions: ['ANDEAN'],
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 40,
    maxCashOnDeliveryCents: 200_000_000,
    volumetricDivisor: 2500,
    baseCents: 640_000,
    perKilogramCents: 76_000,
    perKilogramAndDistanceCents: 13_000,
    insuranceRate: 0.01,
    returnRate: 0.7,
    kmPerOperatingDay: 300,
  },
  {
    name: 'couriers/mareazul',
    displayName: 'Mareazul Litoral',
    regions: ['CARIBBEAN', 'PACIFIC', 'ISLANDS'],
    maxDistanceKm: Number.POSITIVE_INFINITY,
    maxWeightKg: 120,
    maxCashOnDeliveryCents: 200_000_000,
    volumetricDivisor: 2500,
    baseCents: 710_000,
    perKilogramCents: 72_000,
    perKilogramAndDistanceCents: 11_000,
    insuranceRate: 0.011,
    returnRate: 0.8,
    kmPerOperatingDay: 280,
  },
  {
    name: 'couriers/colibri-urbano',
    displayName: 'Colibrí Urbano',
    regions: [],
    maxDistanceKm: 60,
    maxWeightKg: 15,
    maxCashOnDeliveryCents: 80_000_000,
    volumetricDivisor: 4000,
    baseCents: 480_000,
    perKilogramCents: 60_000,
    perKilogramAndDistanceCents: 30_000,
    insuranceRate: 0.01,
    returnRate: 0.6,
    kmPerOperatingDay: 60,
  },
];
