import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import { shown } from '../../rest/resource-name.ts';
import { builder } from '../builder.ts';

interface MoneySource {
  cents: number;
  currency: string;
}

/** The currency that the REST interface names for the cost of a shipment ("Conventions"). */
export const shipmentCurrency = 'COP';

/** An amount in `currency`; null where REST left the amount out, so that a required one becomes that field's error. */
export function money(cents: number, currency: string): MoneySource;
export function money(cents: number | null | undefined, currency: string): MoneySource | null;
export function money(cents: number | null | undefined, currency: string): MoneySource | null {
  return cents === null || cents === undefined ? null : { cents, currency };
}

export const Money = builder.objectRef<MoneySource>('Money').implement({
  description: 'An amount of money, exact to the cent.',
  fields: (t) => ({
    cents: t.expose('cents', { type: 'Cents', nullable: false, description: 'The whole amount in cents.' }),
    currency: t.exposeString('currency', {
      nullable: false,
      description: 'The ISO 4217 code of the currency, such as `COP`.',
    }),
    formatted: t.string({
      nullable: false,
      description: 'The amount for people to read, with its currency sign, as `locale` writes it.',
      args: {
        locale: t.arg.string({
          defaultValue: 'es-CO',
          description: 'A BCP 47 language tag, such as `es-CO` or `en-US`.',
        }),
      },
      resolve: ({ cents, currency }, { locale }) => {
        if (!Number.isSafeInteger(cents))
          throw new InvalidResponseError('Expected a whole number of cents from REST');
        return formatterOf(locale ?? 'es-CO', currency).format(decimal(cents));
      },
    }),
  }),
});

// Making one takes much longer than using it, and V8 frees what it holds only with a full collection of garbage.
const formatters = new Map<string, Intl.NumberFormat>();
// Clients may ask for any language, and a tag may be as long as they like. Hardly one is longer that people use.
const maxFormatters = 100;
const maxKeptLocale = 35;

function formatterOf(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`;
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const made = makeFormatter(locale, currency);
  if (locale.length > maxKeptLocale) return made;
  if (formatters.size >= maxFormatters) formatters.clear();
  formatters.set(key, made);
  return made;
}

function makeFormatter(locale: string, currency: string): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      // Some locales round pesos. Cents are shown where there are any.
      minimumFractionDigits: 2,
      trailingZeroDisplay: 'stripIfInteger',
    });
  } catch (cause) {
    throw new BadInputError(
      `Expected "locale" to be a language tag, such as "es-CO", but got ${shown(locale)}.`,
      {
        cause,
      },
    );
  }
}

/** Cents as a decimal text, which Intl formats exactly where a division would round. */
function decimal(cents: number): Intl.StringNumericLiteral {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral;
}
