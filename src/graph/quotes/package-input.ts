import { builder } from '../builder.ts';
import { amount, fields, textOf } from '../input/input-rules.ts';

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

/** "Quote" of the interface, which bounds neither values nor sizes; "Limits" bounds every content description. */
export const packageRules = fields({
  declaredValueCents: amount,
  dimensions: fields({ lengthCm: amount, widthCm: amount, heightCm: amount }),
  weightKg: amount,
  contentDescription: textOf(3, 128),
});
