import type { TemplateInput } from '../interface/requests.ts';
import type { SentTemplate, Template } from '../interface/schemas.ts';
import { type FieldError, invalid } from '../interface/service-error.ts';
import { type Store, templateKey } from '../store/store.ts';

/**
 * Makes the template of a message from a request.
 * @throws ServiceError 400 if the channel has no such template in this language, or for unknown or missing parameters
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
    throw invalid({
      field: 'template',
      message: `refers to an unknown template of ${channel}: ${name} in ${language}`,
    });
  }
  const errors = [
    ...parameterErrors('template.headerParameters', headerParameters, template.header),
    ...parameterErrors('template.bodyParameters', bodyParameters, template.body),
  ];
  if (errors.length > 0) throw invalid(...errors);
  return { name, language, headerParameters, bodyParameters };
}

function parameterErrors(
  field: string,
  values: Record<string, string>,
  text: Template['header'],
): FieldError[] {
  const defined = text?.parameters.map(({ name }) => name) ?? [];
  const unknown = Object.keys(values).filter((name) => !defined.includes(name));
  const missing = defined.filter((name) => !Object.hasOwn(values, name));
  return [
    ...unknown.map((name) => ({ field: `${field}.${name}`, message: 'is not a parameter of the template' })),
    ...missing.map((name) => ({ field: `${field}.${name}`, message: 'is required' })),
  ];
}
