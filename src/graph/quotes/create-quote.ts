import type { QuoteJson } from '../../rest/wire-schema.ts';
import type { NamedRecord } from '../../writes/restored-records.ts';
import { builder } from '../builder.ts';
import {
  centsAtLeast,
  idempotencyKey,
  locationId,
  object,
  optional,
  recordId,
} from '../mutation/input-rules.ts';
import { runMutation } from '../mutation/run-mutation.ts';
import { NotFound, resultUnion } from '../mutation/user-error.ts';
import { PackageInput, packageRules } from './package-input.ts';
import { loadCreatedQuote, Quote } from './quote.ts';

const CreateQuoteInput = builder.inputType('CreateQuoteInput', {
  description: 'A package, and the way that it is to go.',
  fields: (t) => ({
    origin: t.id({
      required: true,
      description:
        'Where the package is collected: a location, `locations/<identifier>` or the bare identifier; at most 96 ' +
        'characters with `locations/`.',
    }),
    destination: t.id({
      required: true,
      description: 'Where the package goes: a location, in the same form.',
    }),
    package: t.field({
      type: PackageInput,
      required: true,
      description: 'The package that the couriers are to carry.',
    }),
    cashOnDeliveryRequestCents: t.field({
      type: 'Cents',
      description: 'What the courier is to collect on delivery, from 0. Left out, nothing is asked for.',
    }),
    order: t.id({
      description:
        'The order that the package belongs to, `orders/<identifier>` or the bare identifier. A shipment created from ' +
        'the quote is then the shipment of this order.',
    }),
    idempotencyKey: t.string({
      description:
        'A key of your own, 1 to 255 characters, new for each quote. For 24 hours the same key and input, with any access ' +
        'token of the merchant, return the same quote and request none twice. A repeated key costs `GET /v1/quotes/{id}` ' +
        "unless only the quote's id is selected.",
    }),
  }),
});

/** The rules of the request fields of "Quote". */
const rules = object({
  origin: locationId,
  destination: locationId,
  package: packageRules,
  cashOnDeliveryRequestCents: optional(centsAtLeast(0)),
  order: optional(recordId('orders')),
  idempotencyKey,
});

const CreateQuoteSuccess = builder
  .objectRef<{ __typename: 'CreateQuoteSuccess'; quote: QuoteJson | NamedRecord }>('CreateQuoteSuccess')
  .implement({
    description: 'The couriers have answered.',
    fields: (t) => ({
      quote: t.field({
        type: Quote,
        description: 'The quote, with the offer or the refusal of each courier.',
        resolve: ({ quote }, _args, { loaders }, info) => loadCreatedQuote(quote, loaders, info),
      }),
    }),
  });

const CreateQuoteResult = resultUnion('CreateQuoteResult', {
  description: 'What came of asking for a quote.',
  types: [CreateQuoteSuccess, NotFound],
});

builder.mutationField('createQuote', (t) =>
  t.field({
    type: CreateQuoteResult,
    nullable: true,
    description: 'Asks the couriers for their offers for a package. Costs `POST /v1/quotes`.',
    args: {
      input: t.arg({ type: CreateQuoteInput, required: true, description: 'The package and its way.' }),
    },
    resolve: (_root, { input }, { writes }, info) =>
      runMutation({
        rules,
        input,
        info,
        targetId: ({ order, origin }) => order ?? origin,
        run: async ({ idempotencyKey, ...quote }) => ({
          __typename: 'CreateQuoteSuccess' as const,
          quote: await writes.createQuote(quote, idempotencyKey),
        }),
        adviceOnUnknownOutcome: () =>
          'There is nothing to check: a quote binds nobody to anything. Ask for it again, with a new idempotencyKey.',
      }),
  }),
);
