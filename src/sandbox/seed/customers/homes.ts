import type { Address, Location } from '../../interface/schemas.ts';
import type { Random } from '../random.ts';
import { companies, farms, neighbourhoods, streets } from './people.ts';

/** Where a customer receives packages. */
export interface Home {
  location: Location;
  addressLines: string[];
  /** Empty for a private address. */
  organization: string;
}

/** Chooses where people live: mostly in the larger cities, the rest anywhere in the country. */
export interface Atlas {
  anyHome(random: Random): Home;
  homeIn(location: string, random: Random): Home;
}

/** The share of customers by the start of their location's identifier; an empty start is the whole country. */
const shares: readonly (readonly [string, number])[] = [
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

export function createAtlas(locations: readonly Location[]): Atlas {
  const byName = new Map(locations.map((location) => [location.name, location]));
  const pools = shares.map(([start, share]) => {
    const pool = locations.filter(({ name }) => name.startsWith(`locations/${start}`));
    return [pool, share] as const;
  });
  return {
    anyHome: (random) => home(random.pick(random.weighted(pools)), random),
    homeIn(name, random) {
      const location = byName.get(name);
      if (!location) throw new RangeError(`There is no ${name}`);
      return home(location, random);
    },
  };
}

/** The "Address" of the REST interface's responses, its place taken from the location. */
export function addressAt({ location, addressLines, organization }: Home): Address {
  return { ...location.address, addressLines, organization };
}

function home(location: Location, random: Random): Home {
  const inTown = location.address.locality.includes('(') || random.chance(0.75);
  return {
    location,
    addressLines: inTown ? townLines(random) : farmLines(random),
    organization: random.chance(0.08) ? random.pick(companies) : '',
  };
}

const letters = [
  ['', 6],
  ['A', 1],
  ['B', 1],
  [' Bis', 1],
] as const;

function townLines(random: Random): string[] {
  const letter = random.weighted(letters);
  const street = `${random.pick(streets)} ${random.integer(1, 150)}${letter}`;
  const door = `# ${random.integer(1, 120)}-${random.integer(10, 99)}`;
  const inside = random.weighted([
    [`Apto ${random.integer(1, 20)}0${random.integer(1, 6)}, Torre ${random.integer(1, 9)}`, 4],
    [`Casa ${random.integer(1, 60)}`, 2],
    [`Oficina ${random.integer(2, 19)}01`, 1],
    [`Interior ${random.integer(1, 12)}`, 1],
  ]);
  return [`${street} ${door}`, `${inside}, barrio ${random.pick(neighbourhoods)}`];
}

function farmLines(random: Random): string[] {
  return [
    `Vereda ${random.pick(neighbourhoods)}, finca ${random.pick(farms)}`,
    `Kilómetro ${random.integer(1, 24)} vía al municipio, frente a la escuela`,
  ];
}
