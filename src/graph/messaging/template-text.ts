import { InvalidResponseError } from '../../rest/errors.ts';
import type { TemplateJson, TemplateTextJson } from '../../rest/wire-schema.ts';

/** By parameter name. A Map, because a parameter may have the name `__proto__`. */
type Values = ReadonlyMap<string, string>;

/** Blanks around the name are no part of the pattern: it would take minutes for a long text of blanks. */
const placeholder = /\{\{([^{}]*)\}\}/g;

/**
 * Replaces each `{{name}}` with its value. A parameter without a value keeps its placeholder.
 * @returns the texts. `missing`: names of parameters without a value. `unknown`: names of values without a parameter. Both
 * have each name once, header first.
 * @throws InvalidResponseError if a part of the template is no text
 */
export function fillTemplate(template: TemplateJson, values: { header: Values; body: Values }) {
  const header = parameterNames(template.header);
  const body = parameterNames(template.body);
  const unknownIn = (given: Values, names: Set<string>) => new Set(given.keys()).difference(names);
  return {
    header: fillText(template.header, values.header),
    body: fillText(template.body, values.body),
    footer: textOrNull(template.footer),
    missing: [...header.difference(values.header).union(body.difference(values.body))],
    unknown: [...unknownIn(values.header, header).union(unknownIn(values.body, body))],
  };
}

function fillText(part: TemplateTextJson | null | undefined, values: Values): string | null {
  const text = textOrNull(part?.text);
  return text?.replace(placeholder, (unfilled, name: string) => values.get(name.trim()) ?? unfilled) ?? null;
}

function textOrNull(value: string | null | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  throw new InvalidResponseError('The REST service sent a template with a part that is not a string');
}

/** The names of all parameters that a part defines or that its text uses without a definition. */
export function parameterNames(part: TemplateTextJson | null | undefined): Set<string> {
  const defined = (part?.parameters ?? []).map((parameter) => parameter.name);
  const used = [...(textOrNull(part?.text) ?? '').matchAll(placeholder)].map(([, name = '']) => name.trim());
  return new Set([...defined, ...used]);
}
