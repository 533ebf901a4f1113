import type { Location } from '../interface/schemas.ts';
import { coordinates } from './coordinates.ts';
import type { Department, Point } from './department.ts';
import { departments } from './departments.ts';

const departmentByName: ReadonlyMap<string, Department> = new Map(
  departments.map((department) => [department.name, department]),
);
const earthRadiusKm = 6371;
/** Road distance divided by straight distance. Colombian roads cross three mountain chains. */
const roadFactor = 1.35;
const withinTownKm = 8;
/** The least distance between two towns, also if both have the coordinates of their department's centre. */
const betweenTownsKm = 35;

/** Estimates the road distance between two locations, in km. @throws RangeError for an unknown department. */
export function distanceKm(from: Location, to: Location): number {
  if (from.address.administrativeArea === to.address.administrativeArea && townOf(from) === townOf(to))
    return withinTownKm;
  return Math.max(betweenTownsKm, Math.round(straightKm(pointOf(from), pointOf(to)) * roadFactor));
}

/** The department of a location. @throws RangeError for an unknown department. */
export function findDepartment({ name, address }: Location): Department {
  const department = departmentByName.get(address.administrativeArea);
  if (!department)
    throw new RangeError(`${name} lies in ${address.administrativeArea}, which is no department`);
  return department;
}

/** The municipality of a location, without its zone. */
function townOf({ address }: Location): string {
  const zoneStart = address.locality.indexOf(' (');
  return zoneStart < 0 ? address.locality : address.locality.slice(0, zoneStart);
}

function pointOf(location: Location): Point {
  const department = findDepartment(location);
  return coordinates[`${department.name}/${townOf(location)}`] ?? department.centre;
}

/** The haversine formula. */
function straightKm([fromLatitude, fromLongitude]: Point, [toLatitude, toLongitude]: Point): number {
  const half = (from: number, to: number) => Math.sin(((to - from) * Math.PI) / 360) ** 2;
  const cosine = (degrees: number) => Math.cos((degrees * Math.PI) / 180);
  const chord =
    half(fromLatitude, toLatitude) +
    cosine(fromLatitude) * cosine(toLatitude) * half(fromLongitude, toLongitude);
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(chord));
}
