import type { Address, Location } from '../../interface/schemas.ts';
import type { Random } from '../random.ts';
import { companies, farms, neighbourhoods, streets } from './name-lists.ts';

/** An address at which a customer receives packages. */
export interface DeliveryAddress {
  location: Location;
  addressLines: string[];
  /** Empty for a private address. */
  organization: string;
}

/** Generates addresses of customers. */
export interface AddressGenerator {
  /** An address anywhere in the country, most often in a larger city. */
  randomAddress(random: Random): DeliveryAddress;
  /** An address in a location. @throws RangeError for an unknown location. */
  addressIn(location: string, random: Random): DeliveryAddress;
}

/** The share of customers by prefix of the location identifier. The empty prefix means the whole country. */
const locationShares: readonly (readonly [string, number])[] = [
  ['bogota-dc', 30],
  ['antioquia-medellin', 15],
  ['valle-del-cauca-cali', 9],
  ['atlantico-barranquilla', 6],
  ['santander-bucaramanga', 4],
  ['risaralda-pereira', 4],
  ['caldas-manizales', 3],
  ['bolivar-cartagena-de-indias', 3],
  ['cundinamarca', 4],
  ['', 22],
];

/** Creates a generator of addresses in these locations. */
export function createAddressGenerator(locations: readonly Location[]): AddressGenerator {
  const byName = new Map(locations.map((location) => [location.name, location]));
  const locationPools = locationShares.map(([prefix, share]) => {
    const pool = locations.filter(({ name }) => name.startsWith(`locations/${prefix}`));
    return [pool, share] as const;
  });
  return {
    randomAddress: (random) => addressInLocation(random.pick(random.weighted(locationPools)), random),
    addressIn(name, random) {
      const location = byName.get(name);
      if (!location) throw new RangeError(`There is no ${name}`);
      return addressInLocation(location, random);
    },
  };
}

/** Converts to an "Address" of responses. Region, department and locality come from the location. */
export function toAddress({ location, addressLines, organization }: DeliveryAddress): Address {
  return { ...location.address, addressLines, organization };
}

function addressInLocation(location: Location, random: Random): DeliveryAddress {
  const inTown = location.address.locality.includes('(') || random.chance(0.75);
  return {
    location,
    addressLines: inTown ? townLines(random) : farmLines(random),
    organization: random.chance(0.08) ? random.pick(companies) : '',
  };
}

const streetSuffixes = [
  ['', 6],
  ['A', 1],
  ['B', 1],
  [' Bis', 1],
] as const;

function townLines(random: Random): string[] {
  const suffix = random.weighted(streetSuffixes);
  const street = `${random.pick(streets)} ${random.integer(1, 150)}${suffix}`;
  const door = `# ${random.integer(1, 120)}-${random.integer(10, 99)}`;
  const unit = random.weighted([
    [`Apto ${random.integer(1, 20)}0${random.integer(1, 6)}, Torre ${random.integer(1, 9)}`, 4],
    [`Casa ${random.integer(1, 60)}`, 2],
    [`Oficina ${random.integer(2, 19)}01`, 1],
    [`Interior ${random.integer(1, 12)}`, 1],
  ]);
  return [`${street} ${door}`, `${unit}, barrio ${random.pick(neighbourhoods)}`];
}

function farmLines(random: Random): string[] {
  return [
    `Vereda ${random.pick(neighbourhoods)}, finca ${random.pick(farms)}`,
    `Kilómetro ${random.integer(1, 24)} vía al municipio, frente a la escuela`,
  ];
}
