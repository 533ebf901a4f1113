import type { Recipient } from '../../interface/schemas.ts';
import type { Random } from '../random.ts';
import { type Atlas, addressAt, type Home } from './homes.ts';
import { firstNames, lastNames } from './people.ts';

/** Someone who buys from a merchant, always with the same phone number. */
export interface Customer {
  firstName: string;
  lastName: string;
  documentType: 'CC' | 'CE' | 'NI' | 'TI' | null;
  document: string | null;
  email: string;
  phoneNumber: string;
  /** At least one; the first is the usual one. */
  homes: readonly [Home, ...Home[]];
  /** How often a shipment comes back, from 0 to 1. */
  returnRate: number;
}

/** A customer whose name, phone and home are chosen by hand. */
export type KnownCustomer = Pick<
  Customer,
  'firstName' | 'lastName' | 'documentType' | 'document' | 'phoneNumber'
> & {
  location: string;
  addressLines: string[];
};

/**
 * Makes up so many customers, the known ones first. Their phone numbers start with one of `phonePrefixes`, such as
 * `+57300`; two merchants with different prefixes share no number.
 */
export function createCustomers(
  count: number,
  { known, phonePrefixes }: { known: readonly KnownCustomer[]; phonePrefixes: readonly string[] },
  atlas: Atlas,
  random: Random,
): Customer[] {
  const phones = new Set(known.map(({ phoneNumber }) => phoneNumber));
  const familiar = known.map((person): Customer => {
    const { location, addressLines, ...identity } = person;
    const home = { ...atlas.homeIn(location, random), addressLines, organization: '' };
    return { ...identity, email: emailOf(person, 0), homes: [home], returnRate: 0.04 };
  });
  const others = Array.from({ length: count - known.length }, (_, index): Customer => {
    const person = {
      firstName: random.pick(firstNames),
      lastName: `${random.pick(lastNames)} ${random.pick(lastNames)}`,
    };
    const second = random.chance(0.12) ? [atlas.anyHome(random)] : [];
    return {
      ...person,
      ...identityDocument(random),
      email: emailOf(person, index + 1),
      phoneNumber: freshPhone(phones, phonePrefixes, random),
      homes: [atlas.anyHome(random), ...second],
      returnRate: random.weighted([
        [0.02, 70],
        [0.15, 20],
        [0.6, 10],
      ]),
    };
  });
  return [...familiar, ...others];
}

/** A customer as an order's recipient: now and then at another address, or with the name typed in a hurry. */
export function recipientOf(customer: Customer, random: Random): Recipient {
  const home = random.chance(0.7) ? customer.homes[0] : random.pick(customer.homes);
  const hurried = random.chance(0.03);
  const written = (name: string) =>
    hurried ? withoutAccents(name).replace(/([a-z])[aeiou](?=[a-z])/, '$1') : name;
  return {
    firstName: customer.firstName,
    lastName: written(customer.lastName),
    documentType: customer.documentType,
    document: customer.document,
    email: customer.email,
    phoneNumber: customer.phoneNumber,
    address: addressAt(home),
    location: home.location.name,
  };
}

function identityDocument(random: Random): Pick<Customer, 'documentType' | 'document'> {
  const documentType = random.weighted<Customer['documentType']>([
    ['CC', 62],
    ['CE', 7],
    ['NI', 9],
    ['TI', 4],
    [null, 18],
  ]);
  const digits = String(random.integer(10_000_000, 1_199_999_999));
  if (documentType === null) return { documentType, document: null };
  return { documentType, document: documentType === 'NI' ? `9${digits.slice(0, 8).padEnd(8, '0')}` : digits };
}

function freshPhone(taken: Set<string>, prefixes: readonly string[], random: Random): string {
  for (;;) {
    const phone = `${random.pick(prefixes)}${random.integer(1_000_000, 9_999_999)}`;
    if (taken.has(phone)) continue;
    taken.add(phone);
    return phone;
  }
}

/** Under example.com, where no mail ever arrives. */
function emailOf({ firstName, lastName }: Pick<Customer, 'firstName' | 'lastName'>, number: number): string {
  const word = (text: string) =>
    withoutAccents(text)
      .toLowerCase()
      .replace(/[^a-z]+/g, '.');
  return `${word(firstName)}.${word(lastName.split(' ')[0] ?? lastName)}${number || ''}@example.com`;
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/[\u0300-\u036f]/g, '');
}
