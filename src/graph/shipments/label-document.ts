import * as v from 'valibot';
import type { DocumentEntry } from '../../printing/label-documents.ts';
import { cellsOf, type LayoutName } from '../../printing/layouts.ts';
import type { ResourceName } from '../../rest/resource-name.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { describedEnum } from '../fields/described-enum.ts';
import { inputArg, invalidInput } from '../mutation/define-mutation.ts';
import { idDescription, recordId, rule, validateInput } from '../mutation/input-rules.ts';
import { type InvalidFieldSource, InvalidInput, type InvalidInputSource } from '../mutation/user-error.ts';
import { Shipment } from './shipment.ts';

const maxShipments = 100;
const maxMinutes = 1_440;

const LabelLayout = describedEnum<LayoutName>('LabelLayout', 'The paper of the labels.', {
  AS_IS: 'No change: each label keeps the size and the pages of its PDF.',
  THERMAL_4X6_IN: 'Sheets of 4 × 6 inches for thermal printers, each with one label page.',
  A6: 'A6 sheets, 105 × 148 mm, each with one label page.',
  A4_FOUR: 'A4 sheets, 210 × 297 mm, each with up to four label pages.',
  LETTER_FOUR: 'Letter sheets, 8.5 × 11 inches, each with up to four label pages.',
});

const LabelOutcome = describedEnum<DocumentEntry['outcome']>(
  'LabelOutcome',
  'What became of the label of a shipment.',
  {
    INCLUDED: 'The label is in the document.',
    NOT_READY:
      'The shipment has no label yet, or will never have one. The `status` of the shipment says which.',
    NOT_FOUND: 'The shipment does not exist.',
    UNREADABLE: 'The label is not a PDF that can be printed.',
    FAILED: 'The label was not read, for a reason outside the shipment. Try again.',
  },
);

const CreateLabelDocumentInput = builder.inputType('CreateLabelDocumentInput', {
  description: 'The shipments whose labels are printed, and the paper.',
  fields: (t) => ({
    shipments: t.idList({
      required: true,
      description: `${idDescription('The shipments', 'shipments')} From 1 to ${maxShipments} different shipments. The document has the labels in this sequence.`,
    }),
    layout: t.field({
      type: LabelLayout,
      defaultValue: 'AS_IS',
      description:
        'The paper. Waybill never enlarges a label. A label that is too large for its place is turned, or made smaller, or both.',
    }),
    startAt: t.int({
      defaultValue: 1,
      description:
        'The number of the first free place on a partly used sheet. Count from 1, from left to right and from top to bottom.',
    }),
    summary: t.boolean({
      defaultValue: false,
      description:
        'Whether the document ends with a page for the driver. For each courier, this page lists the number of labels, ' +
        'and the id and the locality of each shipment.',
    }),
    expiresInMinutes: t.int({
      defaultValue: 15,
      description: `The time for which the link works, in minutes, from 1 to ${maxMinutes}.`,
    }),
  }),
});

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number(),
    rule((value: number) => {
      const range = min === max ? min : `from ${min} to ${max}`;
      const message = `must be ${range}, but is ${value}`;
      if (value < min) return { code: 'TOO_SMALL', message, limit: min };
      return value > max ? { code: 'TOO_LARGE', message, limit: max } : undefined;
    }),
  );

/** The rules of an input with this layout, whose cells bound `startAt`. */
const rulesFor = (layout: LayoutName) =>
  v.object({
    shipments: v.pipe(
      v.array(recordId('shipments')),
      rule((ids: ResourceName<'shipments'>[]) => {
        const message = `must have 1 to ${maxShipments} ids, but has ${ids.length}`;
        if (ids.length === 0) return { code: 'TOO_SHORT', message, limit: 1 };
        return ids.length > maxShipments ? { code: 'TOO_LONG', message, limit: maxShipments } : undefined;
      }),
    ),
    // GraphQL has validated the layout: only null is refused here.
    layout: v.picklist([layout]),
    startAt: wholeNumber(1, cellsOf(layout)),
    summary: v.boolean(),
    expiresInMinutes: wholeNumber(1, maxMinutes),
  });

interface LabelDocumentSource {
  id: string;
  expiresAtMs: number;
  pages: number;
  entries: DocumentEntry[];
}

const LabelDocumentEntry = builder.objectRef<DocumentEntry>('LabelDocumentEntry').implement({
  description: 'A shipment of the input, and what became of its label.',
  fields: (t) => ({
    shipmentId: t.exposeID('id', { description: 'The id of the shipment, `shipments/<identifier>`.' }),
    shipment: t.expose('shipment', {
      type: Shipment,
      nullable: true,
      description: 'The shipment, or null if it does not exist or could not be read.',
    }),
    outcome: t.expose('outcome', { type: LabelOutcome, description: 'What became of the label.' }),
    page: t.int({
      nullable: true,
      description: 'The page on which the label starts, counted from 1. Null if the label is on no page.',
      resolve: (entry) => (entry.outcome === 'INCLUDED' ? entry.page : null),
    }),
    message: t.string({
      nullable: true,
      description: 'Why the document does not have the label, as a sentence. Null for `INCLUDED`.',
      resolve: (entry, _args, context) => messageOf(entry, context),
    }),
  }),
});

const LabelDocument = builder.objectRef<LabelDocumentSource>('LabelDocument').implement({
  description: 'A PDF with labels, behind a link that works for a while.',
  fields: (t) => ({
    url: t.field({
      type: 'URL',
      description:
        'The link to the PDF. Anyone with the link can open the PDF, without an access token. After `expireTime`, the link returns HTTP 410.',
      resolve: ({ id }, _args, context) => context.documentUrl(id),
    }),
    expireTime: t.field({
      type: 'DateTime',
      description:
        'The time until which the link works. The link ends earlier if the server needs its memory for other documents, or ' +
        'if the REST service rejects the access token. On a server that keeps documents in memory, a restart ends all links.',
      resolve: ({ expiresAtMs }) => new Date(expiresAtMs).toISOString(),
    }),
    pageCount: t.exposeInt('pages', {
      description: 'The number of pages, including the page for the driver.',
    }),
    labelCount: t.int({
      description: 'The number of labels in the document.',
      resolve: ({ entries }) => entries.filter(({ outcome }) => outcome === 'INCLUDED').length,
    }),
    entries: t.expose('entries', {
      type: [LabelDocumentEntry],
      description: 'An entry for each shipment, in the sequence of the input.',
      // The weight of the mutation has the rest: ten for each label.
      extensions: { estimatedItems: 1 },
    }),
  }),
});

const CreateLabelDocumentSuccess = builder
  .objectRef<{ __typename: 'CreateLabelDocumentSuccess'; document: LabelDocumentSource }>(
    'CreateLabelDocumentSuccess',
  )
  .implement({
    description:
      'The document was made, with at least one label. `document.entries` shows which labels are missing.',
    fields: (t) => ({
      document: t.expose('document', { type: LabelDocument, description: 'The document.' }),
    }),
  });

const CreateLabelDocumentResult = builder.unionType('CreateLabelDocumentResult', {
  description: 'The document, or the reason why there is none.',
  types: [CreateLabelDocumentSuccess, InvalidInput],
});

builder.mutationField('createLabelDocument', (t) =>
  t.field({
    type: CreateLabelDocumentResult,
    nullable: true,
    description:
      'Makes one PDF of the labels of up to 100 shipments, with a link to the PDF. If no label can be printed, the result ' +
      'is `InvalidInput` with the reason for each shipment. If all labels fail with the same error code, the field is null ' +
      'instead, with that error. Costs `GET /v1/shipments/{id}` for each shipment, or a page of `GET /v1/shipments` for ' +
      'many, and `GET /v1/shipments/{id}/label` for each label. Each label counts as ten objects in the limits of the server.',
    args: inputArg(CreateLabelDocumentInput, 'The shipments and the paper.'),
    // The list of the input whose labels count for the points of the operation.
    extensions: { labelsIn: 'shipments' },
    resolve: async (_root, { input }, context) => {
      const validation = validateInput(rulesFor(input.layout ?? 'AS_IS'), input);
      if ('errors' in validation) return invalidInput(validation.errors);
      const { value } = validation;
      const repeated = repetitions(value.shipments);
      if (repeated.length > 0) return invalidInput(repeated);
      const { document, entries } = await context.createLabelDocument(value);
      if (document === undefined) return noLabel(entries, context);
      return { __typename: 'CreateLabelDocumentSuccess' as const, document: { ...document, entries } };
    },
  }),
);

function repetitions(ids: readonly string[]): InvalidFieldSource[] {
  return ids.flatMap((id, index) =>
    ids.indexOf(id) === index
      ? []
      : [
          {
            path: `shipments.${index}`,
            message: `must occur only once, but repeats the id of shipments.${ids.indexOf(id)}`,
            code: 'DUPLICATE' as const,
          },
        ],
  );
}

/** The code of a field whose label cannot be printed. A result without labels has no `INCLUDED`. */
const codeByOutcome = {
  NOT_READY: 'NOT_ALLOWED',
  NOT_FOUND: 'NOT_FOUND',
  UNREADABLE: 'NOT_ALLOWED',
  FAILED: 'REJECTED',
  INCLUDED: 'REJECTED',
} as const satisfies Record<DocumentEntry['outcome'], InvalidFieldSource['code']>;

/** The result without a label. @throws the first error, if all labels failed with the same code */
function noLabel(entries: readonly DocumentEntry[], context: Context): InvalidInputSource {
  const errors = entries.flatMap((entry) => (entry.outcome === 'FAILED' ? [entry.error] : []));
  const failures = new Set(errors.map((error) => context.reportError(error).code));
  if (errors.length === entries.length && failures.size === 1) throw errors[0];
  const fields = entries.map((entry, index) => ({
    path: `shipments.${index}`,
    message: `has no label to print. ${messageOf(entry, context) ?? ''}`.replace(/\.$/, ''),
    code: codeByOutcome[entry.outcome],
  }));
  const { length } = entries;
  const reason = length === 1 ? 'the shipment has no label' : `none of the ${length} shipments has a label`;
  return invalidInput(fields, `No document was made, because ${reason} to print.`);
}

function messageOf(entry: DocumentEntry, context: Context): string | null {
  if (entry.outcome === 'INCLUDED') return null;
  if (entry.outcome !== 'FAILED') return entry.message;
  return context.reportError(entry.error).message.replace(/[^.]$/, '$&.');
}
