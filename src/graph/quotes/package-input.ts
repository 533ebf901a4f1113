import { builder } from '../builder.ts';
import { number, object, textOfLength } from '../mutation/input-rules.ts';

const PackageDimensionsInput = builder.inputType('PackageDimensionsInput', {
  description: 'The outer size of a package.',
  fields: (t) => ({
    lengthCm: t.float({ required: true, description: 'Length in centimetres.' }),
    widthCm: t.float({ required: true, description: 'Width in centimetres.' }),
    heightCm: t.float({ required: true, description: 'Height in centimetres.' }),
  }),
});

export const PackageInput = builder.inputType('PackageInput', {
  description: 'A package to be carried.',
  fields: (t) => ({
    declaredValueCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The value of the content, in cents.',
    }),
    dimensions: t.field({ type: PackageDimensionsInput, required: true, description: 'The outer size.' }),
    weightKg: t.float({ required: true, description: 'The weight in kilograms.' }),
    contentDescription: t.string({ required: true, description: 'What is in it, in 3 to 128 characters.' }),
  }),
});

/** "Quote" has no bounds; "Limits" bounds content descriptions. */
export const packageRules = object({
  declaredValueCents: number,
  dimensions: object({ lengthCm: number, widthCm: number, heightCm: number }),
  weightKg: number,
  contentDescription: textOfLength(3, 128),
});
