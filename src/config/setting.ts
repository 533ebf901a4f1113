/** A variable of the environment. */
export interface Setting<Value, DefaultValue extends string | undefined = string | undefined> {
  variable: string;
  /** The value where the variable is absent, as it would be written; undefined where there is none. */
  defaultValue: DefaultValue;
  /** What it is for, as the README's table says it. */
  meaning: string;
  expected: string;
  /** The value, or undefined where the text is not what is expected. */
  parse(text: string): Value | undefined;
}

/** Variables and what they hold. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings by the name of their value. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** What an environment says of the settings of a table. */
export type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value, infer DefaultValue>
    ? Value | (DefaultValue extends string ? never : undefined)
    : never;
};

/** A value as a fault shows it: quoted, and without the credentials that a URL may hold. */
export function shown(value: string): string {
  return JSON.stringify(value.replace(/\/\/[^/]*@/, '//…@'));
}

export function wholeNumber<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  [least, most]: [number, number],
  meaning: string,
): Setting<number, DefaultValue> {
  return {
    variable,
    defaultValue,
    meaning,
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

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

/** The same without a standard. */
export function oneOfOrNone<Value extends string>(
  variable: string,
  values: readonly [Value, ...Value[]],
  meaning: string,
): Setting<Value, undefined> {
  return { ...oneOf<Value>(variable, values[0], values, meaning), defaultValue: undefined };
}

export function anyText<DefaultValue extends string | undefined>(
  variable: string,
  defaultValue: DefaultValue,
  meaning: string,
): Setting<string, DefaultValue> {
  return { variable, defaultValue, meaning, expected: 'a text', parse: (text) => text };
}

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

export function origins(variable: string, meaning: string): Setting<readonly string[], undefined> {
  return {
    variable,
    defaultValue: undefined,
    meaning,
    expected: 'origins such as https://shop.example, with commas between them',
    parse: (text) => {
      const given = text.split(',').map((origin) => origin.trim());
      return given.every(isOrigin) ? Object.freeze(given) : undefined;
    },
  };
}

/** As browsers write it: no path, not even a slash, and no port where it is the scheme's own. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

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

export function parameterName(variable: string, defaultValue: string, of: string): Setting<string, string> {
  return {
    variable,
    defaultValue,
    meaning: `The query parameter by which REST takes ${of}.`,
    expected: 'a name of letters, digits, ".", "_" and "-"',
    parse: (text) => (/^[\w.-]+$/.test(text) ? text : undefined),
  };
}
