/** A setting that is read from an environment variable. */
export interface Setting<Value, DefaultValue extends string | undefined = string | undefined> {
  variable: string;
  /** Optional: another name of the variable, which comes first. */
  alias?: string;
  /** The default, as text of the variable; undefined if there is no default. */
  defaultValue: DefaultValue;
  /** The purpose of the setting, as printed in docs/configuration.md. */
  meaning: string;
  /** The valid values, for the error message "expected … but got …". */
  expected: string;
  /** Returns the value of the text; undefined if the text is invalid. */
  parse(text: string): Value | undefined;
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

/** A setting whose value is a whole number from `min` to `max`. */
export function wholeNumber<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  [min, max]: [number, number],
  meaning: string,
): Setting<number, DefaultValue> {
  return {
    variable,
    defaultValue,
    meaning,
    expected: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** A setting whose value is `yes` or `no`. */
export function yesOrNo<DefaultValue extends 'yes' | 'no' | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  meaning: string,
): Setting<boolean, DefaultValue> {
  const values: Record<string, boolean> = { yes: true, no: false };
  return {
    variable,
    defaultValue,
    meaning,
    expected: '"yes" or "no"',
    parse: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
  };
}

/** A setting whose value is one of `values`. */
export function oneOf<Value extends string>(
  variable: string,
  defaultValue: Value,
  values: readonly Value[],
  meaning: string,
): Setting<Value, Value> {
  return {
    variable,
    defaultValue,
    meaning,
    expected: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  };
}

/** A setting like `oneOf`, but without a default. */
export function oneOfOrNone<Value extends string>(
  variable: string,
  values: readonly [Value, ...Value[]],
  meaning: string,
): Setting<Value, undefined> {
  return { ...oneOf<Value>(variable, values[0], values, meaning), defaultValue: undefined };
}

/** A setting whose value is any text. */
export function anyText<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  meaning: string,
): Setting<string, DefaultValue> {
  return { variable, defaultValue, meaning, expected: 'a text', parse: (text) => text };
}

/** A setting whose value is an http or https URL without query, fragment or credentials. */
export function httpUrl(variable: string, meaning: string): Setting<URL, undefined> {
  return {
    variable,
    defaultValue: undefined,
    meaning,
    expected: 'an http or https URL without query, fragment or credentials',
    parse: (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const fits = /^https?:$/.test(url?.protocol ?? '') && !/[?#@]/.test(text);
      return fits ? url : undefined;
    },
  };
}

/** A setting whose value is a comma-separated list of web origins. */
export function origins(variable: string, meaning: string): Setting<readonly string[], undefined> {
  return {
    variable,
    defaultValue: undefined,
    meaning,
    expected: 'origins such as https://shop.example, with commas between them',
    parse: (text) => {
      const list = text.split(',').map((origin) => origin.trim());
      return list.every(isOrigin) ? Object.freeze(list) : undefined;
    },
  };
}

/**
 * Returns whether the text is an origin as browsers send it: without path or final slash, and without a default port.
 */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** A setting whose value is an ISO 4217 currency code. */
export function currencyCode(
  variable: string,
  defaultValue: string,
  meaning: string,
): Setting<string, string> {
  return {
    variable,
    defaultValue,
    meaning,
    expected: 'an ISO 4217 code of three capital letters',
    parse: (text) => (/^[A-Z]{3}$/.test(text) ? text : undefined),
  };
}

/** A setting whose value is the name of a REST query parameter. `of` describes the parameter. */
export function parameterName(variable: string, defaultValue: string, of: string): Setting<string, string> {
  return {
    variable,
    defaultValue,
    meaning: `The name of the REST query parameter for ${of}.`,
    expected: 'a name of letters, digits, ".", "_" and "-"',
    parse: (text) => (/^[\w.-]+$/.test(text) ? text : undefined),
  };
}
