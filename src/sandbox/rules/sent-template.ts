import type { TemplateInput } from '../interface/requests.ts';
import type { SentTemplate, Template } from '../interface/schemas.ts';
import { type FieldFault, invalid } from '../interface/service-error.ts';
import { type Store, templateKey } from '../store/store.ts';

/**
 * The template as the message will show it. Throws a 400 for a template that the channel lacks in this language, and
 * for every parameter that it does not know or that is left out.
 */
export function sentTemplateFrom(
  store: Store,
  merchant: string,
  channel: string,
  input: TemplateInput,
): SentTemplate {
  const { name, language, headerParameters = {}, bodyParameters = {} } = input;
  const list = { merchant, path: `${channel}/templates` };
  const template = store.templates.find(list, templateKey(name, language));
  if (template === undefined) {
    throw invalid({ field: 'template', message: `names no template of ${channel}: ${name} in ${language}` });
  }
  const faults = [
    ...faultsIn('template.headerParameters', headerParameters, template.header),
    ...faultsIn('template.bodyParameters', bodyParameters, template.body),
  ];
  if (faults.length > 0) throw invalid(...faults);
  return { name, language, headerParameters, bodyParameters };
}

function faultsIn(field: string, given: Record<string, string>, text: Template['header']): FieldFault[] {
  const known = text?.parameters.map(({ name }) => name) ?? [];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const missing = known.filter((name) => !Object.hasOwn(given, name));
  return [
    ...unknown.map((name) => ({ field: `${field}.${name}`, message: 'is not a parameter of the template' })),
    ...missing.map((name) => ({ field: `${field}.${name}`, message: 'is required' })),
  ];
}
