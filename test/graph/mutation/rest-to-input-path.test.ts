import { isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { findInputLocation, type RestToInputPaths } from '../../../src/graph/mutation/rest-to-input-path.ts';
import { schema } from '../../../src/graph/schema.ts';
import { order } from '../../fixtures/order-to-create.ts';

/** Makes a function that maps a REST path to a path in an input of this type. */
function pathFinderFor(typeName: string, input: unknown, restToInputPaths: RestToInputPaths = {}) {
  const type = schema.getType(typeName);
  if (!isInputObjectType(type)) throw new TypeError(`${typeName} is no input`);
  return (restPath: string) => findInputLocation(restPath, type, input, restToInputPaths).path;
}

describe('the path of a REST error about an order', () => {
  const pathOf = pathFinderFor('CreateOrderInput', { ...order, paymentMethods: ['PSE', 'NEQUI'] });

  test.each([
    ['a field', 'notes', 'notes'],
    ['dots', 'recipient.address.addressLines', 'recipient.address.addressLines'],
    ['brackets', 'recipient[address][addressLines][1]', 'recipient.address.addressLines.1'],
    ['a number between dots', 'recipient.address.addressLines.1', 'recipient.address.addressLines.1'],
    ['a JSON pointer', '/recipient/address/addressLines/0', 'recipient.address.addressLines.0'],
    ['a JSON pointer in a fragment', '#/recipient/location', 'recipient.location'],
    ['snake case', 'cash_on_delivery_request_cents', 'cashOnDeliveryRequestCents'],
    ['Pascal case', 'Recipient.Address.AddressLines', 'recipient.address.addressLines'],
    ['mixed notations', '#/body/Recipient/address/address_lines[0]', 'recipient.address.addressLines.0'],
    ['a field that is nested deeper in the input', 'recipient.addressLines', 'recipient'],
    ['the body as a prefix', 'body.recipient.email', 'recipient.email'],
    ['the record as a prefix', 'order.recipient.phone_number', 'recipient.phoneNumber'],
    ['both prefixes', 'body.order.recipient.email', 'recipient.email'],
    ['the record in a pointer', '/order/paymentMethods/1', 'paymentMethods.1'],
    ['a list', 'payment_methods', 'paymentMethods'],
    ['an index in a list', 'paymentMethods[0]', 'paymentMethods.0'],
    ['an index beyond the list', 'paymentMethods[2]', 'paymentMethods'],
    ['an index that is not a number', 'paymentMethods[last]', 'paymentMethods'],
    ['a negative index', 'paymentMethods.-1', 'paymentMethods'],
    ['a field below a string', 'notes.length', 'notes'],
    ['a field that only the REST service has', 'recipient.address.regionCode', 'recipient.address'],
    ['a field that the input omits', 'referenceId', 'referenceId'],
    ['a nested field that the input omits', 'recipient.document', 'recipient.document'],
    ['consecutive dots', 'recipient..email.', 'recipient.email'],
  ])('is mapped to the input: %s', (_what, restPath, path) => {
    expect(pathOf(restPath)).toBe(path);
  });

  test.each([
    ['an unknown field', 'tariff'],
    ['a field below an unknown field', 'tariff.table'],
    ['a field of the response', 'customerReliability'],
    ['a field that exists only deeper', 'addressLines'],
    ['a name from Object.prototype', 'constructor'],
    ['the name __proto__', '__proto__'],
    ['an empty path', ''],
    ['only separators', '/.[]#'],
    ['a number', '0'],
  ])('is mapped to the whole input for %s', (_what, restPath) => {
    expect(pathOf(restPath)).toBe('');
  });

  test('is mapped even if it has more than 300 characters', () => {
    expect(pathOf(`${'a.'.repeat(150)}notes`)).toBe('notes');
  });
});

describe('the path of a REST error about template parameters', () => {
  const pathOf = pathFinderFor(
    'SendMessageInput',
    {
      conversation: 'channels/ca1/conversations/ca60',
      content: {
        template: {
          name: 'pedido_confirmado',
          language: 'es',
          headerParameters: [{ name: '1', value: '1001' }],
          bodyParameters: [
            { name: 'customer', value: 'Lucía' },
            { name: '0', value: 'café' },
            { name: 'total.amount', value: '$ 95.000' },
            { name: '__proto__', value: 'Medellín' },
          ],
        },
      },
    },
    { template: 'content.template', text: 'content.text' },
  );

  test.each([
    ['a renamed field', 'template', 'content.template'],
    ['a field below a renamed field', 'template.name', 'content.template.name'],
    ['a missing field', 'text', 'content.text'],
    ['a parameter name', 'template.bodyParameters.customer', 'content.template.bodyParameters.0.value'],
    ['a number as a parameter name', 'template.bodyParameters.0', 'content.template.bodyParameters.1.value'],
    [
      'a number that is a parameter name, not an index',
      '/template/header_parameters/1',
      'content.template.headerParameters.0.value',
    ],
    [
      'a parameter name with a dot',
      'template.bodyParameters.total.amount',
      'content.template.bodyParameters.2.value',
    ],
    [
      'the parameter name __proto__',
      'template.bodyParameters.__proto__',
      'content.template.bodyParameters.3.value',
    ],
    ['an unknown parameter name', 'template.bodyParameters.city', 'content.template.bodyParameters'],
    ['a field that is not renamed', 'conversation', 'conversation'],
  ])('is mapped to the input: %s', (_what, restPath, path) => {
    expect(pathOf(restPath)).toBe(path);
  });
});

describe('the mapping of a REST error path', () => {
  const restToInputPaths = { recipient: '', 'recipient.phone': 'phone', text: 'text' };
  const pathOf = pathFinderFor('SendMessageToPhoneInput', { phone: '+573104567890' }, restToInputPaths);

  test.each([
    ['uses the longest matching name', 'recipient.phone', 'phone'],
    ['ignores the case of names', 'body.Recipient.Phone', 'phone'],
    ['finds a field of the recipient if the recipient is the whole input', 'recipient.name', 'name'],
    ['returns an empty path for the recipient if the recipient is the whole input', 'recipient', ''],
    ['returns an empty path for /body/recipient if the recipient is the whole input', '/body/recipient', ''],
  ])('%s', (_what, restPath, path) => {
    expect(pathOf(restPath)).toBe(path);
  });
});

test('a path is mapped by the input types if the input is missing', () => {
  for (const input of [null, undefined, 7, 'order', []]) {
    const pathOf = pathFinderFor('CreateOrderInput', input);
    expect(pathOf('recipient.address.addressLines.0')).toBe('recipient.address.addressLines');
  }
});

test('the unmatched part of a path is returned as the remainder', () => {
  const type = schema.getType('ShipOrderInput');
  if (!isInputObjectType(type)) throw new TypeError('ShipOrderInput is no input');
  const pathOf = (restPath: string) =>
    findInputLocation(restPath, type, {}, { recipient: 'order', quote: '' });
  expect(pathOf('recipient.address.addressLines')).toEqual({
    path: 'order',
    remainder: 'address.addressLines',
  });
  expect(pathOf('package.colour')).toEqual({ path: 'package', remainder: 'colour' });
  expect(pathOf('package.weightKg')).toEqual({ path: 'package.weightKg', remainder: '' });
  expect(pathOf('quote')).toEqual({ path: '', remainder: 'quote' });
});
