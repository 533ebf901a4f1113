/** The form of a setting's values. */
export interface ValueType<Value> {
  /** For the error message "expected … but got …". */
  expected: string;
  /** @returns undefined if the text is invalid */
  parse(value: string): Value | undefined;
  /** What is wrong with an invalid text, and what to write. Follows the error message. */
  advice?(value: string): string;
  /** An invalid text for the error message. By default the text itself, without the credentials of a URL. */
  shown?(value: string): string;
}

export interface Setting<Value, DefaultValue extends string | undefined = string | undefined>
  extends ValueType<Value> {
  variable: string;
  /** As the text of the variable. */
  defaultValue: DefaultValue;
  /** Printed in docs/configuration.md. */
  meaning: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of the settings of a table. A value without a default may be undefined. */
export type Values<Table extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value, infer DefaultValue>
    ? Value | (DefaultValue extends string ? never : undefined)
    : never;
};

/** A value for an error message: quoted, and without the credentials that a URL may contain. */
export function quoted(value: string): string {
  return JSON.stringify(value.replace(/^(\w+:\/\/)?.*@/s, '$1…@'));
}

/**
 * Makes a setting. The empty or missing variable has the default value.
 * @param defaultValue the default as the text of the variable; undefined if there is none.
 * @param meaning a line of docs/configuration.md.
 * @example setting('UPSTREAM_RETRIES', '2', wholeNumber(0, 10), 'The maximum number of retries of one REST read.')
 */
export function setting<Value, DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  type: ValueType<Value>,
  meaning: string,
): Setting<Value, DefaultValue> {
  return { variable, defaultValue, meaning, ...type };
}

/** A number without sign or fraction, from `min` to `max`. */
export function wholeNumber(min: number, max: number): ValueType<number> {
  const isValid = (value: string) => /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: (value) => (isValid(value) ? Number(value) : undefined),
  };
}

export const yesOrNo: ValueType<boolean> = {
  expected: '"yes" or "no"',
  parse: (value) => (value === 'yes' || value === 'no' ? value === 'yes' : undefined),
};

/** One of some words, such as `choice('public', 'private')`. */
export function choice<Value extends string>(...values: Value[]): ValueType<Value> {
  return {
    expected: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  };
}

export const text: ValueType<string> = { expected: 'any text', parse: (value) => value };

/** A text of a form. `expected` says the form: `pattern(/^[A-Z]{3}$/, 'an ISO 4217 code of three capital letters')`. */
export function pattern(valid: RegExp, expected: string): ValueType<string> {
  return { expected, parse: (value) => (valid.test(value) ? value : undefined) };
}

export const httpUrl: ValueType<URL> = {
  expected: 'an http or https URL without query, fragment or credentials',
  parse(value) {
    const url = URL.parse(value);
    return url !== null && /^https?:$/.test(url.protocol) && !/[?#@]/.test(value) ? url : undefined;
  },
};
