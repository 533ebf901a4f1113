import { quoteForMessage } from '../../base/quote-for-message.ts';
import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';

interface MoneySource {
  cents: number;
  currency: string;
}

/** The currency of shipment costs ("Conventions"). */
const shipmentCurrency = 'COP';

/** Makes a Money source. A missing amount becomes null, which is a field error if the field is non-null. */
export function money(cents: number, currency: string): MoneySource;
export function money(cents: number | null | undefined, currency: string): MoneySource | null;
export function money(cents: number | null | undefined, currency: string): MoneySource | null {
  return cents === null || cents === undefined ? null : { cents, currency };
}

export const Money = builder.objectRef<MoneySource>('Money').implement({
  description: 'An amount of money, exact to the cent.',
  fields: (t) => ({
    cents: t.expose('cents', { type: 'Cents', description: 'The amount in cents.' }),
    currency: t.exposeString('currency', {
      description: 'The ISO 4217 code of the currency, such as `COP`.',
    }),
    formatted: t.string({
      description: 'The amount with its currency sign, formatted for `locale`.',
      args: {
        locale: t.arg.string({
          defaultValue: 'es-CO',
          description: 'A BCP 47 language tag of at most 100 characters, such as `es-CO` or `en-US`.',
        }),
      },
      resolve: ({ cents, currency }, { locale }) => {
        if (!Number.isSafeInteger(cents))
          throw new InvalidResponseError(
            'The REST service sent an amount that is not a whole number of cents',
          );
        return cachedFormatter(locale ?? 'es-CO', currency).format(decimal(cents));
      },
    }),
  }),
});

/** The options of a nullable field with a cost of a shipment. */
export const shippingCost = <Source>(
  description: string,
  centsOf: (source: Source) => number | null | undefined,
) => ({
  type: Money,
  nullable: true as const,
  description,
  resolve: (source: Source) => money(centsOf(source), shipmentCurrency),
});

// A formatter takes much longer to create than to use, and V8 frees its memory only in a full garbage collection.
// A text that is no language tag has undefined here, because the attempt to create its formatter takes as long.
const formatters = new Map<string, Intl.NumberFormat | undefined>();
// Clients may send any language tag. Tags in common use have at most 35 characters.
const maxFormatters = 100;
const maxTagLength = 100;

function cachedFormatter(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`;
  if (locale.length <= maxTagLength && !formatters.has(key)) {
    if (formatters.size >= maxFormatters) formatters.clear();
    formatters.set(key, createFormatter(locale, currency));
  }
  const formatter = formatters.get(key);
  if (formatter !== undefined) return formatter;
  throw new BadInputError(
    `Expected "locale" to be a language tag, such as "es-CO", but got ${quoteForMessage(locale)}.`,
  );
}

function createFormatter(locale: string, currency: string): Intl.NumberFormat | undefined {
  try {
    return new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      // Some locales round pesos. Cents are shown unless they are zero.
      minimumFractionDigits: 2,
      trailingZeroDisplay: 'stripIfInteger',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Cents as a decimal text. Intl formats a text exactly; a division would round. */
function decimal(cents: number): Intl.StringNumericLiteral {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral;
}
