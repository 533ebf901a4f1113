import type { Location, Offer, Package } from '../interface/schemas.ts';
import { distanceKm, findDepartment } from '../places/distance.ts';
import { formatNames } from '../store/identifiers.ts';
import { type Courier, couriers } from './couriers.ts';

/** Prices are multiples of 50 pesos. */
const priceStepCents = 5_000;
const minimumInsuranceCents = 25_000;
const cashOnDeliveryRate = 0.025;
const minimumCashOnDeliveryCostCents = 350_000;

/**
 * Computes the `offers` of a "Quote". The same input gives the same offers. A courier that serves neither location
 * has no entry. A courier that cannot carry the package has the reason as `status` (`NO_COVERAGE`, `OVERWEIGHT`,
 * `CASH_ON_DELIVERY_NOT_AVAILABLE`) and costs and days of 0.
 * @throws RangeError for a location in an unknown department
 */
export function rateOffers(input: {
  origin: Location;
  destination: Location;
  package: Package;
  cashOnDeliveryRequestCents: number;
}): Offer[] {
  const from = findDepartment(input.origin);
  const to = findDepartment(input.destination);
  const distance = distanceKm(input.origin, input.destination);
  return couriers.flatMap((courier): Offer | Offer[] => {
    // A courier without regions delivers within each department, and to no other department.
    const local = courier.regions.length === 0 && from === to;
    const collects = local || courier.regions.includes(from.region);
    const delivers = local || courier.regions.includes(to.region);
    if (!collects && !delivers) return [];
    if (!collects || !delivers || distance > courier.maxDistanceKm)
      return unavailableOffer(courier, 'NO_COVERAGE');
    const weightKg = chargeableWeightKg(courier, input.package);
    if (weightKg > courier.maxWeightKg) return unavailableOffer(courier, 'OVERWEIGHT');
    if (input.cashOnDeliveryRequestCents > courier.maxCashOnDeliveryCents)
      return unavailableOffer(courier, 'CASH_ON_DELIVERY_NOT_AVAILABLE');
    return availableOffer(courier, weightKg, distance, input.package.declaredValueCents);
  });
}

/** The price of cash on delivery for an amount, both in cents. 0 for an amount of 0. */
export function cashOnDeliveryCost(cashOnDeliveryRequestCents: number): number {
  if (cashOnDeliveryRequestCents === 0) return 0;
  return Math.max(
    minimumCashOnDeliveryCostCents,
    roundedPrice(cashOnDeliveryRequestCents * cashOnDeliveryRate),
  );
}

/**
 * The display name of a courier: `Rutandina` for `couriers/rutandina`, or for the name that a service with mixed formats
 * gives to that courier. Undefined if unknown.
 */
export function courierDisplayName(courier: string): string | undefined {
  return couriers.find(({ name }) => name === courier || formatNames('mixed', name) === courier)?.displayName;
}

function availableOffer(
  courier: Courier,
  weightKg: number,
  distance: number,
  declaredValueCents: number,
): Offer {
  const transportCents =
    courier.baseCents +
    courier.perKilogramCents * (weightKg - 1) +
    (courier.perKilogramAndDistanceCents * weightKg * distance) / 100;
  const insuranceCents = Math.max(minimumInsuranceCents, declaredValueCents * courier.insuranceRate);
  return {
    courier: courier.name,
    status: 'SUCCESS',
    shipmentCostCents: roundedPrice(transportCents + insuranceCents),
    returnShipmentCostCents: roundedPrice(transportCents * courier.returnRate),
    estimatedDeliveryOperatingDays: Math.ceil(distance / courier.kmPerOperatingDay),
  };
}

function unavailableOffer(courier: Courier, status: string): Offer {
  return {
    courier: courier.name,
    status,
    shipmentCostCents: 0,
    returnShipmentCostCents: 0,
    estimatedDeliveryOperatingDays: 0,
  };
}

/** The larger of weight and volumetric weight, in whole kilograms, at least 1. */
function chargeableWeightKg({ volumetricDivisor }: Courier, { weightKg, dimensions }: Package): number {
  const volume = dimensions.lengthCm * dimensions.widthCm * dimensions.heightCm;
  return Math.max(1, Math.ceil(weightKg), Math.ceil(volume / volumetricDivisor));
}

function roundedPrice(cents: number): number {
  return Math.round(cents / priceStepCents) * priceStepCents;
}
