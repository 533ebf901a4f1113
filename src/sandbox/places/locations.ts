import type { Location } from '../interface/schemas.ts';
import { names } from './department.ts';
import { departments } from './departments.ts';
import { zones } from './zones.ts';

/**
 * Creates a "Location" for every municipality of Colombia, each followed by its zones. "Location" has no field for a
 * zone, so the locality contains it: `Medellín (Laureles)`.
 */
export function createLocations(): Location[] {
  return departments.flatMap((department) =>
    names(department.municipalities).flatMap((municipality) => [
      location(department.name, municipality),
      ...names(zones[`${department.name}/${municipality}`] ?? '')
        .filter((zone) => zone !== '')
        .map((zone) => location(department.name, municipality, zone)),
    ]),
  );
}

/** Makes a resource name such as `locations/antioquia-medellin-laureles`. The place need not exist. */
function locationName(department: string, municipality: string, zone?: string): string {
  // The capital district is also its only municipality: `locations/bogota-dc`.
  const parts = department === municipality ? [department, zone] : [department, municipality, zone];
  return `locations/${parts
    .filter((part) => part !== undefined)
    .map(slug)
    .join('-')}`;
}

function location(department: string, municipality: string, zone?: string): Location {
  return {
    name: locationName(department, municipality, zone),
    address: {
      regionCode: 'CO',
      administrativeArea: department,
      locality: zone === undefined ? municipality : `${municipality} (${zone})`,
    },
  };
}

/** `Nariño` becomes `narino`, `Bogotá D.C.` becomes `bogota-dc`. */
function slug(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f.]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
}
