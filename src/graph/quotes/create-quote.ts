import * as v from 'valibot';
import type { QuoteJson } from '../../rest/wire-schema.ts';
import type { NamedRecord } from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import { defineMutation, inputArg } from '../mutation/define-mutation.ts';
import {
  centsAtLeast,
  idDescription,
  idempotencyKey,
  keyDescription,
  locationId,
  recordId,
} from '../mutation/input-rules.ts';
import { NotFound, resultUnion } from '../mutation/user-error.ts';
import { PackageInput, packageRules } from './package-input.ts';
import { createdQuote } from './quote.ts';

const CreateQuoteInput = builder.inputType('CreateQuoteInput', {
  description: 'A package with its origin and destination.',
  fields: (t) => ({
    origin: t.id({
      required: true,
      description: idDescription('The location where the courier collects the package', 'locations'),
    }),
    destination: t.id({
      required: true,
      description: idDescription('The delivery location of the package', 'locations'),
    }),
    package: t.field({ type: PackageInput, required: true, description: 'The package to deliver.' }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      description:
        'The amount in cents that the courier collects on delivery, at least 0. By default, the ' +
        'courier collects nothing.',
    }),
    order: t.id({
      description: idDescription(
        'The order of the package',
        'orders',
        "A shipment of this quote becomes the order's shipment.",
      ),
    }),
    idempotencyKey: t.string({
      description: keyDescription(
        'quote',
        'creates',
        "`GET /v1/quotes/{id}` if more than the quote's `id` is selected",
      ),
    }),
  }),
});

/** The rules of the request fields of "Quote". */
const rules = v.object({
  origin: locationId,
  destination: locationId,
  package: packageRules,
  cashOnDeliveryRequestCents: v.exactOptional(centsAtLeast(0)),
  order: v.exactOptional(recordId('orders')),
  idempotencyKey,
});

const CreateQuoteSuccess = builder
  .objectRef<{ __typename: 'CreateQuoteSuccess'; quote: QuoteJson | NamedRecord }>('CreateQuoteSuccess')
  .implement({
    description: 'The quote was created, perhaps without an available offer.',
    fields: (t) => ({ quote: t.field(createdQuote('The quote, with one offer or rejection per courier.')) }),
  });

const CreateQuoteResult = resultUnion('CreateQuoteResult', [CreateQuoteSuccess, NotFound]);

builder.mutationField('createQuote', (t) =>
  t.field({
    type: CreateQuoteResult,
    nullable: true,
    description: 'Requests an offer for a package from each courier. Costs `POST /v1/quotes`.',
    args: inputArg(CreateQuoteInput, 'The package, its origin and its destination.'),
    resolve: defineMutation({
      rules,
      // REST's 404 does not say which record is missing. The result names one: the order, or without an order the origin.
      target: ({ order, origin }) =>
        order === undefined ? { id: origin, path: 'origin' } : { id: order, path: 'order' },
      run: async ({ idempotencyKey, ...quote }, { writes }) => ({
        __typename: 'CreateQuoteSuccess' as const,
        quote: await writes.createQuote(quote, idempotencyKey),
      }),
      adviceOnUnknownOutcome: () =>
        'A quote has no cost and no obligation. Send the request again with a new idempotencyKey.',
    }),
  }),
);
