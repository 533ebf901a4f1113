import { describe, expect, test } from 'vitest';
import { coordinates } from '../../../src/sandbox/places/coordinates.ts';
import { createLocations } from '../../../src/sandbox/places/locations.ts';
import { zones } from '../../../src/sandbox/places/zones.ts';

const locations = createLocations();
const towns = locations.filter(({ address }) => !address.locality.includes('('));
const placeOf = ({ address }: (typeof locations)[number]) =>
  `${address.administrativeArea}/${address.locality}`;

/** As the official division (DIVIPOLA) counts municipalities. */
const municipalities = {
  Amazonas: 2,
  Antioquia: 125,
  Arauca: 7,
  Atlántico: 23,
  'Bogotá D.C.': 1,
  Bolívar: 46,
  Boyacá: 123,
  Caldas: 27,
  Caquetá: 16,
  Casanare: 19,
  Cauca: 42,
  Cesar: 25,
  Chocó: 30,
  Córdoba: 30,
  Cundinamarca: 116,
  Guainía: 1,
  Guaviare: 4,
  Huila: 37,
  'La Guajira': 15,
  Magdalena: 30,
  Meta: 29,
  Nariño: 64,
  'Norte de Santander': 40,
  Putumayo: 13,
  Quindío: 12,
  Risaralda: 14,
  'San Andrés y Providencia': 2,
  Santander: 87,
  Sucre: 26,
  Tolima: 47,
  'Valle del Cauca': 42,
  Vaupés: 3,
  Vichada: 4,
};

describe('locations', () => {
  test('include all municipalities of each department', () => {
    const counted = Map.groupBy(towns, ({ address }) => address.administrativeArea);
    expect(Object.fromEntries([...counted].map(([name, list]) => [name, list.length]))).toEqual(
      municipalities,
    );
    expect(towns.length).toBe(1102);
    expect(locations.length).toBe(1389);
  });

  test('have unique ASCII names of at most 96 characters', () => {
    expect(new Set(locations.map(({ name }) => name)).size).toBe(locations.length);
    for (const { name } of locations) {
      expect(name).toMatch(/^locations\/[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(name.length).toBeLessThanOrEqual(96);
    }
    expect(new Set(locations.map(placeOf)).size).toBe(locations.length);
  });

  test.each([
    ['locations/antioquia-medellin', 'Antioquia', 'Medellín'],
    ['locations/antioquia-medellin-laureles', 'Antioquia', 'Medellín (Laureles)'],
    ['locations/bogota-dc', 'Bogotá D.C.', 'Bogotá D.C.'],
    ['locations/bogota-dc-usaquen', 'Bogotá D.C.', 'Bogotá D.C. (Usaquén)'],
    ['locations/norte-de-santander-cucuta', 'Norte de Santander', 'Cúcuta'],
    ['locations/cauca-popayan', 'Cauca', 'Popayán'],
    ['locations/tolima-ibague', 'Tolima', 'Ibagué'],
    ['locations/valle-del-cauca-cali', 'Valle del Cauca', 'Cali'],
    ['locations/valle-del-cauca-cali-pance', 'Valle del Cauca', 'Cali (Pance)'],
    ['locations/atlantico-barranquilla-riomar', 'Atlántico', 'Barranquilla (Riomar)'],
    ['locations/bolivar-santa-cruz-de-mompox', 'Bolívar', 'Santa Cruz de Mompox'],
    ['locations/boyaca-villa-de-leyva', 'Boyacá', 'Villa de Leyva'],
    ['locations/santander-barichara', 'Santander', 'Barichara'],
    ['locations/huila-pitalito', 'Huila', 'Pitalito'],
    ['locations/narino-tumaco', 'Nariño', 'Tumaco'],
    ['locations/choco-quibdo', 'Chocó', 'Quibdó'],
    ['locations/la-guajira-uribia', 'La Guajira', 'Uribia'],
    ['locations/meta-villavicencio', 'Meta', 'Villavicencio'],
    ['locations/quindio-salento', 'Quindío', 'Salento'],
    ['locations/amazonas-leticia', 'Amazonas', 'Leticia'],
    ['locations/san-andres-y-providencia-providencia', 'San Andrés y Providencia', 'Providencia'],
    ['locations/cundinamarca-zipaquira', 'Cundinamarca', 'Zipaquirá'],
    ['locations/casanare-yopal', 'Casanare', 'Yopal'],
  ])('%s lies in %s', (name, administrativeArea, locality) => {
    expect(locations.find((location) => location.name === name)).toEqual({
      name,
      address: { regionCode: 'CO', administrativeArea, locality },
    });
  });

  test('include each town that has zones or coordinates', () => {
    const known = new Set(towns.map(placeOf));
    expect([...Object.keys(zones), ...Object.keys(coordinates)].filter((place) => !known.has(place))).toEqual(
      [],
    );
    expect(locations.filter(({ address }) => address.locality.startsWith('Bogotá D.C. ('))).toHaveLength(20);
    expect(locations.filter(({ address }) => address.locality.startsWith('Medellín ('))).toHaveLength(16 + 5);
  });
});
