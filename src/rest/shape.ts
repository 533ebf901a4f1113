/** What a field holds, as `typeof` has it, and `array`. */
type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'object';

export interface Field {
  readonly type: FieldType;
  readonly isRequired: boolean;
  /** Of a string that has a few values only. */
  readonly values?: ReadonlySet<string>;
  /** Of an object; one without may hold anything. */
  readonly fields?: Shape;
  /** Of an array. */
  readonly items?: Field;
}

/** The fields of an object by their names. */
export type Shape = Readonly<Record<string, Field>>;

type TypeOf<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly unknown[]
        ? 'array'
        : 'object';

/** The shape that a type of types.ts must have: each of its fields, of the same type, and required where it is there. */
export type ShapeOf<Json> = {
  readonly [Name in keyof Json]-?: Field & {
    readonly type: TypeOf<NonNullable<Json[Name]>>;
    readonly isRequired: Json extends Record<Name, unknown> ? true : false;
  };
};

export const text = { type: 'string', isRequired: true } as const;
export const number = { type: 'number', isRequired: true } as const;
export const flag = { type: 'boolean', isRequired: true } as const;
export const map = { type: 'object', isRequired: true } as const;
export const oneOf = (...values: string[]) => ({ ...text, values: new Set(values) });
export const object = (fields: Shape) => ({ ...map, fields });
export const list = (items: Field) => ({ type: 'array', isRequired: true, items }) as const;
export const optional = <Type extends FieldType>(
  field: Field & { readonly type: Type },
): Field & { readonly type: Type; readonly isRequired: false } => ({ ...field, isRequired: false });
