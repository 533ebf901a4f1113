// Money and times are as in Colombia in both languages.
const pesos = new Intl.NumberFormat('es-CO', {
  style: 'currency',
  currency: 'COP',
  maximumFractionDigits: 0,
});
const dayAndTime = new Intl.DateTimeFormat('es-CO', {
  timeZone: 'America/Bogota',
  dateStyle: 'short',
  timeStyle: 'short',
});
const timeOfDay = new Intl.DateTimeFormat('es-CO', { timeZone: 'America/Bogota', timeStyle: 'short' });

/** @param cents of pesos */
export const money = (cents: number) => pesos.format(cents / 100);
export const dateTime = (time: string | number) => dayAndTime.format(new Date(time));
export const time = (at: number) => timeOfDay.format(at);

/** What a user writes as pesos, such as `95.000` or `$ 95000`. @returns cents; undefined for anything else */
export function toCents(text: string): number | undefined {
  const plain = text.replace(/[$\s]/g, '');
  if (!/^(\d+|\d{1,3}(\.\d{3})+)(,\d{1,2})?$/.test(plain)) return undefined;
  return Math.round(Number(plain.replaceAll('.', '').replace(',', '.')) * 100);
}

/** For comparisons: without case, accents and outer blanks. */
export const fold = (text: string) => text.trim().toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
