import { builder } from '../builder.ts';
import { number, object, textOfLength } from '../mutation/input-rules.ts';

const PackageDimensionsInput = builder.inputType('PackageDimensionsInput', {
  description: 'The outer dimensions of a package.',
  fields: (t) => ({
    lengthCm: t.float({ required: true, description: 'The length in centimetres.' }),
    widthCm: t.float({ required: true, description: 'The width in centimetres.' }),
    heightCm: t.float({ required: true, description: 'The height in centimetres.' }),
  }),
});

export const PackageInput = builder.inputType('PackageInput', {
  description: 'A package to deliver.',
  fields: (t) => ({
    declaredValueCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The declared value of the contents, in cents.',
    }),
    dimensions: t.field({
      type: PackageDimensionsInput,
      required: true,
      description: 'The outer dimensions.',
    }),
    weightKg: t.float({ required: true, description: 'The weight in kilograms.' }),
    contentDescription: t.string({
      required: true,
      description: 'The contents of the package, 3 to 128 characters.',
    }),
  }),
});

/** "Quote" has no bounds; "Limits" bounds content descriptions. */
export const packageRules = object({
  declaredValueCents: number,
  dimensions: object({ lengthCm: number, widthCm: number, heightCm: number }),
  weightKg: number,
  contentDescription: textOfLength(3, 128),
});
