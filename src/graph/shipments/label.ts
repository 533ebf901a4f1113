import { InvalidResponseError } from '../../rest/errors.ts';
import type { ShipmentJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { optionalValue } from '../fields/optional-value.ts';
import { registerNonRefetchable } from '../relay/node.ts';

/** The source is a shipment with a label. */
export const Label = builder.objectRef<ShipmentJson>('Label').implement({
  description: 'The label of a package, as a PDF to print.',
  fields: (t) => ({
    id: t.id({
      description:
        'The id, `labels/<identifier>`. `node` does not accept this id: read a label through its shipment.',
      resolve: labelId,
    }),
    url: t.field({
      ...optionalValue(
        'URL',
        'A signed URL of the PDF. It works without an access token, and expires 5 days after the REST service issued it.',
        (shipment: ShipmentJson) => shipment.labelUrl,
      ),
      // REST signs it anew at each read. A new signature alone is no event of a stream.
      extensions: { isNewAtEachRead: true },
    }),
    pdfUrl: t.field({
      type: 'URL',
      description:
        'The URL of the PDF on this server. It does not expire, and requires the access token in the header ' +
        '`Authorization`. A download costs `GET /v1/shipments/{id}/label`.',
      resolve: ({ name }, _args, context) => context.labelUrl(name),
    }),
  }),
});

registerNonRefetchable(
  'Label',
  (id) => id.startsWith('labels/'),
  () => 'Read a label with its shipment: shipment(id: …) { label { id url pdfUrl } }.',
);

function labelId({ name, label }: ShipmentJson): string {
  if (typeof label !== 'string')
    throw new InvalidResponseError(`The REST service sent ${name} with a label that is not a string`);
  return label.startsWith('labels/') ? label : `labels/${label}`;
}
