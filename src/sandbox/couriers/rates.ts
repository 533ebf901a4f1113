import type { Location, Offer, Package } from '../interface/schemas.ts';
import { departmentOf, distanceKm } from '../places/distance.ts';
import { namesAs } from '../store/identifiers.ts';
import { type Courier, couriers } from './couriers.ts';

/** Prices end on 50 pesos. */
const priceStepCents = 5_000;
const minimumInsuranceCents = 25_000;
const cashOnDeliveryRate = 0.025;
const minimumCashOnDeliveryCostCents = 350_000;

/**
 * What every courier offers for a package: the `offers` of the REST interface's "Quote". The same input gives the same
 * offers. A courier that serves neither end is left out; one that cannot carry the package gives its reason as `status`
 * (`NO_COVERAGE`, `OVERWEIGHT`, `CASH_ON_DELIVERY_NOT_AVAILABLE`), with costs and days of 0.
 *
 * Throws a RangeError for a location of no known department.
 */
export function rateOffers(input: {
  origin: Location;
  destination: Location;
  package: Package;
  cashOnDeliveryRequestCents: number;
}): Offer[] {
  const from = departmentOf(input.origin);
  const to = departmentOf(input.destination);
  const distance = distanceKm(input.origin, input.destination);
  return couriers.flatMap((courier): Offer | Offer[] => {
    const local = courier.regions.length === 0 && from === to;
    const collects = local || courier.regions.includes(from.region);
    const delivers = local || courier.regions.includes(to.region);
    if (!collects && !delivers) return [];
    if (!collects || !delivers || distance > courier.maxDistanceKm) return refusal(courier, 'NO_COVERAGE');
    const weightKg = chargeableWeightKg(courier, input.package);
    if (weightKg > courier.maxWeightKg) return refusal(courier, 'OVERWEIGHT');
    if (input.cashOnDeliveryRequestCents > courier.maxCashOnDeliveryCents)
      return refusal(courier, 'CASH_ON_DELIVERY_NOT_AVAILABLE');
    return acceptance(courier, weightKg, distance, input.package.declaredValueCents);
  });
}

/** What a courier charges for collecting an amount on delivery; 0 for nothing to collect. Both in cents. */
export function cashOnDeliveryCost(cashOnDeliveryRequestCents: number): number {
  if (cashOnDeliveryRequestCents === 0) return 0;
  return Math.max(minimumCashOnDeliveryCostCents, rounded(cashOnDeliveryRequestCents * cashOnDeliveryRate));
}

/** What people call a courier, such as `Rutandina` for `couriers/rutandina`, in either form; undefined for no courier. */
export function courierDisplayName(courier: string): string | undefined {
  return couriers.find(({ name }) => name === courier || namesAs('mixed', name) === courier)?.displayName;
}

function acceptance(courier: Courier, weightKg: number, distance: number, declaredValueCents: number): Offer {
  const carriage =
    courier.baseCents +
    courier.perKilogramCents * (weightKg - 1) +
    (courier.perKilogramAndDistanceCents * weightKg * distance) / 100;
  const insurance = Math.max(minimumInsuranceCents, declaredValueCents * courier.insuranceRate);
  return {
    courier: courier.name,
    status: 'SUCCESS',
    shipmentCostCents: rounded(carriage + insurance),
    returnShipmentCostCents: rounded(carriage * courier.returnRate),
    estimatedDeliveryOperatingDays: Math.ceil(distance / courier.kmPerOperatingDay),
  };
}

function refusal(courier: Courier, status: string): Offer {
  return {
    courier: courier.name,
    status,
    shipmentCostCents: 0,
    returnShipmentCostCents: 0,
    estimatedDeliveryOperatingDays: 0,
  };
}

/** The larger of weight and volume, in whole kilograms from 1. */
function chargeableWeightKg({ volumetricDivisor }: Courier, { weightKg, dimensions }: Package): number {
  const volume = dimensions.lengthCm * dimensions.widthCm * dimensions.heightCm;
  return Math.max(1, Math.ceil(weightKg), Math.ceil(volume / volumetricDivisor));
}

function rounded(cents: number): number {
  return Math.round(cents / priceStepCents) * priceStepCents;
}
