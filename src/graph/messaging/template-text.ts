import { InvalidResponseError } from '../../rest/errors.ts';
import type { TemplateJson, TemplateTextJson } from '../../rest/wire-schema.ts';

/** The values of a template's parameters, by name. Maps, as a parameter may be called `__proto__`. */
export interface TemplateValues {
  header: ReadonlyMap<string, string>;
  body: ReadonlyMap<string, string>;
}

export interface FilledTemplate {
  header: string | null;
  body: string | null;
  footer: string | null;
  /** Parameters that have no value, each once, header first. */
  missing: string[];
  /** Values that no parameter asks for, each once, header first. */
  unknown: string[];
}

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Puts values in the place of `{{name}}`. What has no value keeps its placeholder. */
export function fillTemplate(template: TemplateJson, values: TemplateValues): FilledTemplate {
  const header = parameterNames(template.header);
  const body = parameterNames(template.body);
  const without = (names: Iterable<string>, others: { has(name: string): boolean }) =>
    [...names].filter((name) => !others.has(name));
  return {
    header: fillText(template.header, values.header),
    body: fillText(template.body, values.body),
    footer: textIn(template.footer),
    missing: [...new Set([...without(header, values.header), ...without(body, values.body)])],
    unknown: [...new Set([...without(values.header.keys(), header), ...without(values.body.keys(), body)])],
  };
}

/** Header, body and footer as the customer reads them, with an empty line between. */
export function readAsOne({ header, body, footer }: FilledTemplate): string {
  return [header, body, footer].filter(Boolean).join('\n\n');
}

function fillText(
  part: TemplateTextJson | null | undefined,
  values: ReadonlyMap<string, string>,
): string | null {
  const text = textIn(part?.text);
  return text?.replace(placeholder, (whole, name: string) => values.get(name) ?? whole) ?? null;
}

/** @throws InvalidResponseError where REST has sent something else. */
function textIn(value: string | null | undefined): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  throw new InvalidResponseError('Expected the parts of a template from REST to be texts');
}

/** The parameters that a part defines, and those that its text uses all the same. */
export function parameterNames(part: TemplateTextJson | null | undefined): Set<string> {
  const defined = (part?.parameters ?? []).map((parameter) => parameter.name);
  const used = [...(textIn(part?.text) ?? '').matchAll(placeholder)].map(([, name = '']) => name);
  return new Set([...defined, ...used]);
}
