import { courierDisplayName } from '../../couriers/rates.ts';
import type { Order, SentTemplate, Shipment, Template } from '../../interface/schemas.ts';
import type { Random } from '../random.ts';
import type { ParameterMeaning, TemplateBlueprint } from './template-blueprints.ts';

/** The customer, order and shipment of a message. */
export interface Topic {
  firstName: string;
  order: Order;
  shipment: Shipment | undefined;
  tradeName: string;
}

const weekdays = ['lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado'];

/** Turns a blueprint into a "Template" of the REST interface, with examples for its parameters. */
export function writeTemplate({ header, body, footer, ...rest }: TemplateBlueprint): Template {
  return {
    name: rest.name,
    language: rest.language,
    category: rest.category,
    body: writeText(body),
    ...(header && { header: writeText(header) }),
    buttons: rest.buttons,
    ...(footer !== undefined && { footer }),
  };
}

/** Turns a blueprint into the template of a message, with a value for each parameter. */
export function sendTemplate(
  { name, language, header, body }: TemplateBlueprint,
  topic: Topic,
  random: Random,
): SentTemplate {
  const values = (parameters: Readonly<Record<string, ParameterMeaning>> = {}) =>
    Object.fromEntries(
      Object.entries(parameters).map(([parameter, meaning]) => [
        parameter,
        writeValue(meaning, topic, random),
      ]),
    );
  return {
    name,
    language,
    headerParameters: values(header?.parameters),
    bodyParameters: values(body.parameters),
  };
}

function writeText({ text, parameters }: TemplateBlueprint['body']): Template['body'] {
  return {
    text,
    parameters: Object.entries(parameters).map(([name, meaning]) => ({ name, example: examples[meaning] })),
  };
}

const examples: Readonly<Record<ParameterMeaning, string>> = {
  FIRST_NAME: 'Marcela',
  ORDER: '1042',
  CONTENT: '1 × producto de muestra',
  AMOUNT: '$ 86.500',
  COURIER: 'Rutandina',
  CITY: 'Popayán',
  ADDRESS: 'Calle 5 # 4-70',
  DAY: 'viernes 14 de junio',
  CODE: '482913',
  STORE: 'La tienda',
};

function writeValue(
  meaning: ParameterMeaning,
  { firstName, order, shipment, tradeName }: Topic,
  random: Random,
): string {
  switch (meaning) {
    case 'FIRST_NAME':
      return firstName;
    case 'ORDER':
      return order.referenceId ?? order.name.replace('orders/', '');
    case 'CONTENT':
      return order.contentDescription;
    case 'AMOUNT':
      return formatPesos(order.sellingPriceCents);
    case 'COURIER':
      return courierDisplayName(shipment?.courier ?? '') ?? 'la transportadora';
    case 'CITY':
      return order.recipient.address.locality;
    case 'ADDRESS':
      return order.recipient.address.addressLines.join(', ');
    case 'DAY':
      return `${random.pick(weekdays)} ${random.integer(1, 28)}`;
    case 'CODE':
      return String(random.integer(100_000, 999_999));
    case 'STORE':
      return tradeName;
  }
}

/** Formats cents as a Colombian price, such as `$ 86.500`. */
function formatPesos(cents: number): string {
  return `$ ${String(Math.round(cents / 100)).replace(/\B(?=(\d{3})+$)/g, '.')}`;
}
