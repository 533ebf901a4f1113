import type { Recipient } from '../../interface/schemas.ts';
import type { Random } from '../random.ts';
import { type AddressGenerator, type DeliveryAddress, toAddress } from './delivery-addresses.ts';
import { firstNames, lastNames } from './name-lists.ts';

/** A customer of a merchant. Each customer has one phone number. */
export interface Customer {
  firstName: string;
  lastName: string;
  documentType: 'CC' | 'CE' | 'NI' | 'TI' | null;
  document: string | null;
  email: string;
  phoneNumber: string;
  /** At least one address. The first is the most frequent. */
  deliveryAddresses: readonly [DeliveryAddress, ...DeliveryAddress[]];
  /** The share of returned shipments, from 0 to 1. */
  returnRate: number;
}

/** A customer whose name, phone number and address are fixed. */
export type ScriptedCustomer = Pick<
  Customer,
  'firstName' | 'lastName' | 'documentType' | 'document' | 'phoneNumber'
> & {
  location: string;
  addressLines: string[];
};

/**
 * Generates `count` customers, the scripted ones first.
 * @param phonePrefixes prefixes such as `+57300`; merchants with different prefixes share no phone number
 */
export function createCustomers(
  count: number,
  { scripted, phonePrefixes }: { scripted: readonly ScriptedCustomer[]; phonePrefixes: readonly string[] },
  addressGenerator: AddressGenerator,
  random: Random,
): Customer[] {
  const phones = new Set(scripted.map(({ phoneNumber }) => phoneNumber));
  const scriptedCustomers = scripted.map((person): Customer => {
    const { location, addressLines, ...identity } = person;
    const address = { ...addressGenerator.addressIn(location, random), addressLines, organization: '' };
    return { ...identity, email: emailOf(person, 0), deliveryAddresses: [address], returnRate: 0.04 };
  });
  const randomCustomers = Array.from({ length: count - scripted.length }, (_, index): Customer => {
    const person = {
      firstName: random.pick(firstNames),
      lastName: `${random.pick(lastNames)} ${random.pick(lastNames)}`,
    };
    const secondAddress = random.chance(0.12) ? [addressGenerator.randomAddress(random)] : [];
    return {
      ...person,
      ...identityDocument(random),
      email: emailOf(person, index + 1),
      phoneNumber: unusedPhone(phones, phonePrefixes, random),
      deliveryAddresses: [addressGenerator.randomAddress(random), ...secondAddress],
      returnRate: random.weighted([
        [0.02, 70],
        [0.15, 20],
        [0.6, 10],
      ]),
    };
  });
  return [...scriptedCustomers, ...randomCustomers];
}

/** Makes a customer the recipient of an order, sometimes at another address or with a typo in the last name. */
export function toRecipient(customer: Customer, random: Random): Recipient {
  const address = random.chance(0.7)
    ? customer.deliveryAddresses[0]
    : random.pick(customer.deliveryAddresses);
  const hasTypo = random.chance(0.03);
  const asTyped = (name: string) =>
    hasTypo ? withoutAccents(name).replace(/([a-z])[aeiou](?=[a-z])/, '$1') : name;
  return {
    firstName: customer.firstName,
    lastName: asTyped(customer.lastName),
    documentType: customer.documentType,
    document: customer.document,
    email: customer.email,
    phoneNumber: customer.phoneNumber,
    address: toAddress(address),
    location: address.location.name,
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

function unusedPhone(taken: Set<string>, prefixes: readonly string[], random: Random): string {
  for (;;) {
    const phone = `${random.pick(prefixes)}${random.integer(1_000_000, 9_999_999)}`;
    if (taken.has(phone)) continue;
    taken.add(phone);
    return phone;
  }
}

/** An address at example.com, which receives no mail. */
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
