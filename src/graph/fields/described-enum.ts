import { builder } from '../builder.ts';

/** Makes an enum. `values` has the description of each value. */
export function describedEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const entries = Object.entries<string>(values).map(([value, text]) => [value, { description: text }]);
  // Object.fromEntries loses the literal types.
  const options = Object.fromEntries(entries) as Record<Value, { description: string }>;
  return builder.enumType(name, { description, values: options });
}
