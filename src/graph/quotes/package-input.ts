import * as v from 'valibot';
import { builder } from '../builder.ts';
import { textOfLength } from '../mutation/input-rules.ts';

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

/** The REST interface has no bounds for the numbers of a "Quote". Its "Limits" bound content descriptions. */
export const packageRules = v.object({
  declaredValueCents: v.number(),
  dimensions: v.object({ lengthCm: v.number(), widthCm: v.number(), heightCm: v.number() }),
  weightKg: v.number(),
  contentDescription: textOfLength(3, 128),
});
