import { describe, expect, test } from 'vitest';
import { cashOnDeliveryCost, courierDisplayName, rateOffers } from '../../../src/sandbox/couriers/rates.ts';
import type { Location, Package } from '../../../src/sandbox/interface/schemas.ts';
import { createLocations } from '../../../src/sandbox/places/locations.ts';

const locations = new Map(createLocations().map((location) => [location.name, location]));

function place(identifier: string): Location {
  const location = locations.get(`locations/${identifier}`);
  if (!location) throw new Error(`There is no ${identifier}`);
  return location;
}

const parcel: Package = {
  declaredValueCents: 10_000_000,
  dimensions: { lengthCm: 20, widthCm: 15, heightCm: 10 },
  weightKg: 1,
  contentDescription: 'Café',
};

function offersFor(from: string, to: string, change: Partial<Package> = {}, cashOnDeliveryRequestCents = 0) {
  const input = { origin: place(from), destination: place(to), package: { ...parcel, ...change } };
  return rateOffers({ ...input, cashOnDeliveryRequestCents });
}

function offerOf(courier: string, offers: ReturnType<typeof rateOffers>) {
  return offers.find((offer) => offer.courier === `couriers/${courier}`);
}

/** What the courier that goes everywhere asks. */
function cost(to: string, change: Partial<Package> = {}): number {
  const offer = offerOf('rutandina', offersFor('bogota-dc', to, change));
  expect(offer?.status).toBe('SUCCESS');
  return offer?.shipmentCostCents ?? Number.NaN;
}

describe('offers', () => {
  test('are equal for equal input', () => {
    const before = structuredClone(parcel);
    expect(offersFor('bogota-dc', 'antioquia-medellin')).toEqual(
      offersFor('bogota-dc', 'antioquia-medellin'),
    );
    expect(parcel).toEqual(before);
  });

  test('match the known prices from Bogotá to Cali', () => {
    expect(offersFor('bogota-dc', 'valle-del-cauca-cali', {}, 10_000_000)).toEqual([
      offer('rutandina', 'SUCCESS', 1_130_000, 825_000, 2),
      offer('condor-veloz', 'SUCCESS', 1_450_000, 1_330_000, 1),
      offer('chasqui-carga', 'SUCCESS', 1_725_000, 1_490_000, 2),
      offer('tierra-firme', 'CASH_ON_DELIVERY_NOT_AVAILABLE', 0, 0, 0),
      offer('tres-cordilleras', 'NO_COVERAGE', 0, 0, 0),
      offer('mareazul', 'NO_COVERAGE', 0, 0, 0),
    ]);
  });

  test('cost more for a greater weight, volume, distance or value', () => {
    const rising = (costs: number[]) => expect(costs).toEqual(costs.toSorted((one, other) => one - other));
    const weights = [0.2, 1, 1.5, 2, 5, 10, 25, 40].map((weightKg) =>
      cost('antioquia-medellin', { weightKg }),
    );
    const volumes = [10, 20, 40, 60].map((heightCm) =>
      cost('antioquia-medellin', { dimensions: { lengthCm: 40, widthCm: 30, heightCm } }),
    );
    const distances = [
      'bogota-dc-suba',
      'cundinamarca-chia',
      'tolima-ibague',
      'valle-del-cauca-cali',
      'la-guajira-uribia',
    ];
    const values = [0, 50_000_000, 500_000_000].map((declaredValueCents) =>
      cost('huila-neiva', { declaredValueCents }),
    );
    for (const costs of [weights, volumes, distances.map((to) => cost(to)), values]) {
      rising(costs);
      expect(costs.at(-1)).toBeGreaterThan(costs[0] ?? Number.NaN);
    }
  });

  test('estimate more days for distant places', () => {
    const days = ['bogota-dc-suba', 'valle-del-cauca-cali', 'la-guajira-uribia'].map(
      (to) => offerOf('rutandina', offersFor('bogota-dc', to))?.estimatedDeliveryOperatingDays,
    );
    expect(days).toEqual([1, 2, 4]);
  });

  test('give the reason why a courier rejects a package', () => {
    const statuses = (offers: ReturnType<typeof rateOffers>) =>
      Object.fromEntries(offers.map(({ courier, status }) => [courier.replace('couriers/', ''), status]));
    expect(statuses(offersFor('bogota-dc', 'amazonas-leticia', { weightKg: 35 }, 100_000_000))).toEqual({
      rutandina: 'SUCCESS',
      'condor-veloz': 'NO_COVERAGE',
      'chasqui-carga': 'SUCCESS',
      'tierra-firme': 'OVERWEIGHT',
      'tres-cordilleras': 'NO_COVERAGE',
    });
    expect(statuses(offersFor('antioquia-medellin', 'antioquia-turbo'))).toMatchObject({
      'colibri-urbano': 'NO_COVERAGE',
    });
    expect(statuses(offersFor('antioquia-medellin', 'antioquia-envigado'))).toMatchObject({
      'colibri-urbano': 'SUCCESS',
    });
  });

  test('have safe integers as costs even for the largest declared value', () => {
    for (const { shipmentCostCents } of offersFor('bogota-dc', 'huila-neiva', {
      declaredValueCents: Number.MAX_SAFE_INTEGER,
    }))
      expect(Number.isSafeInteger(shipmentCostCents)).toBe(true);
  });

  test('cannot be calculated for an unknown department', () => {
    const atlantis = {
      name: 'locations/atlantis',
      address: { regionCode: 'CO', administrativeArea: 'Atlantis', locality: 'Poseidonia' },
    };
    const input = {
      origin: place('bogota-dc'),
      destination: atlantis,
      package: parcel,
      cashOnDeliveryRequestCents: 0,
    };
    expect(() => rateOffers(input)).toThrow(
      new RangeError('locations/atlantis lies in Atlantis, which is no department'),
    );
  });
});

test('the cost of cash on delivery is zero, the minimum fee or a percentage', () => {
  expect([0, 1, 14_000_000, 40_000_000].map(cashOnDeliveryCost)).toEqual([0, 350_000, 350_000, 1_000_000]);
});

test('courierDisplayName returns the display name of a known courier', () => {
  expect(courierDisplayName('couriers/condor-veloz')).toBe('Cóndor Veloz');
  expect(courierDisplayName('couriers/nobody')).toBeUndefined();
});

function offer(
  courier: string,
  status: string,
  shipmentCostCents: number,
  returnShipmentCostCents: number,
  days: number,
) {
  return {
    courier: `couriers/${courier}`,
    status,
    shipmentCostCents,
    returnShipmentCostCents,
    estimatedDeliveryOperatingDays: days,
  };
}
