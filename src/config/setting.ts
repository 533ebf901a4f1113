/** A setting that is read from an environment variable. */
export interface Setting<Value, DefaultValue extends string | undefined = string | undefined> {
  variable: string;
  /** The default, as text of the variable; undefined if there is no default. */
  defaultValue: DefaultValue;
  /** The purpose of the setting, as printed in docs/configuration.md. */
  meaning: string;
  /** The valid values, for the error message "expected … but got …". */
  expected: string;
  /** Returns the value of the text; undefined if the text is invalid. */
  parse(value: string): Value | undefined;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings by the name of their value in `Config`. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** The values of the settings of a table. A value without a default may be undefined. */
export type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value, infer DefaultValue>
    ? Value | (DefaultValue extends string ? never : undefined)
    : never;
};

/** Returns a value for an error message: quoted, and without the credentials that a URL may contain. */
export function quoted(value: string): string {
  return JSON.stringify(value.replace(/^(\w+:\/\/)?.*@/s, '$1…@'));
}

export function wholeNumber<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  [min, max]: [number, number],
  meaning: string,
): Setting<number, DefaultValue> {
  const expected = `a whole number from ${min} to ${max}`;
  const parse = (value: string) =>
    /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined;
  return { variable, defaultValue, meaning, expected, parse };
}

export function yesOrNo<DefaultValue extends 'yes' | 'no' | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  meaning: string,
): Setting<boolean, DefaultValue> {
  const parse = (value: string) => (value === 'yes' || value === 'no' ? value === 'yes' : undefined);
  return { variable, defaultValue, meaning, expected: '"yes" or "no"', parse };
}

export function oneOf<Value extends string>(
  variable: string,
  defaultValue: Value,
  values: readonly Value[],
  meaning: string,
): Setting<Value, Value> {
  const expected = `one of ${values.map((value) => `"${value}"`).join(', ')}`;
  return {
    variable,
    defaultValue,
    meaning,
    expected,
    parse: (text) => values.find((value) => value === text),
  };
}

export function text<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  meaning: string,
): Setting<string, DefaultValue> {
  return { variable, defaultValue, meaning, expected: 'a text', parse: (value) => value };
}

export function pattern(
  variable: string,
  defaultValue: string,
  valid: RegExp,
  expected: string,
  meaning: string,
): Setting<string, string> {
  const parse = (value: string) => (valid.test(value) ? value : undefined);
  return { variable, defaultValue, meaning, expected, parse };
}

export function httpUrl(variable: string, meaning: string): Setting<URL, undefined> {
  const expected = 'an http or https URL without query, fragment or credentials';
  const parse = (value: string) => {
    const url = URL.parse(value);
    return url !== null && /^https?:$/.test(url.protocol) && !/[?#@]/.test(value) ? url : undefined;
  };
  return { variable, defaultValue: undefined, meaning, expected, parse };
}
