import type { InputFieldBuilder } from '@pothos/core';
import type { Loaders } from '../../loaders/loaders.ts';
import { BadInputError } from '../../rest/errors.ts';
import type { TemplateJson, TemplateParameterJson, TemplateTextJson } from '../../rest/wire-schema.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { defineList } from '../relay/connection.ts';
import { Channel } from './channel.ts';
import { fillTemplate } from './template-text.ts';

const TemplateParameterDefinition = builder
  .objectRef<TemplateParameterJson>('TemplateParameterDefinition')
  .implement({
    description: 'A parameter in the text of a template.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The name in `{{name}}`.' }),
      example: t.exposeString('example', { nullable: true, description: 'An example value.' }),
    }),
  });

const TemplateText = builder.objectRef<TemplateTextJson>('TemplateText').implement({
  description: 'The header or the body of a template.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text, with `{{name}}` for each parameter.' }),
    parameters: t.field({
      type: [TemplateParameterDefinition],
      description: 'The parameters of the text.',
      extensions: { estimatedItems: 5 },
      resolve: ({ parameters }) => parameters ?? [],
    }),
  }),
});

const TemplatePreview = builder.objectRef<ReturnType<typeof fillTemplate>>('TemplatePreview').implement({
  description:
    'The texts of a template with the given values, and the names of missing and unknown parameters.',
  fields: (t) => ({
    header: t.exposeString('header', { nullable: true, description: 'The header with its values.' }),
    body: t.exposeString('body', {
      nullable: true,
      description: 'The body with its values. A parameter without a value keeps its `{{name}}`.',
    }),
    footer: t.exposeString('footer', { nullable: true, description: 'The footer, which has no parameters.' }),
    missing: t.exposeStringList('missing', { description: 'The names of the parameters without a value.' }),
    unknown: t.exposeStringList('unknown', {
      description: 'The names in the input that are not parameters of the template.',
    }),
  }),
});

const TemplateParameterInput = builder.inputType('TemplateParameterInput', {
  description: 'The value of one parameter of a template.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name in `{{name}}`.' }),
    value: t.string({ required: true, description: 'The text of the parameter.' }),
  }),
});

export const parameterFields = (t: InputFieldBuilder<SchemaTypes, 'InputObject' | 'Arg'>) => ({
  headerParameters: t.field({
    type: [TemplateParameterInput],
    description: 'The values for the header. Each name must occur only once.',
  }),
  bodyParameters: t.field({
    type: [TemplateParameterInput],
    description: 'The values for the body. Each name must occur only once.',
  }),
});

export const Template = builder.objectRef<TemplateJson>('Template').implement({
  description: 'A reusable message text with parameters, approved by the messaging network.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name, unique together with the language.' }),
    language: t.exposeString('language', { description: 'The language code, such as `es`.' }),
    category: t.exposeString('category', {
      nullable: true,
      description: 'The category that the messaging network assigned to the template.',
    }),
    header: t.expose('header', {
      type: TemplateText,
      nullable: true,
      description: 'The line above the body.',
    }),
    body: t.expose('body', { type: TemplateText, nullable: true, description: 'The text of the message.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'The line below the body.' }),
    buttons: t.stringList({
      description: 'The captions of the buttons.',
      resolve: ({ buttons }) => buttons ?? [],
    }),
    preview: t.field({
      type: TemplatePreview,
      description: 'A preview of the template with these values. Sends nothing and costs no call.',
      args: builder.args(parameterFields),
      resolve: (template, { headerParameters, bodyParameters }) =>
        fillTemplate(template, {
          header: valuesByName('headerParameters', headerParameters),
          body: valuesByName('bodyParameters', bodyParameters),
        }),
    }),
  }),
});

/** The values of an argument. @throws BadInputError for a repeated name, because one of its values would be lost. */
function valuesByName(
  argument: string,
  parameters: readonly (typeof TemplateParameterInput.$inferInput)[] | null | undefined,
): Map<string, string> {
  if (findRepeatedName(parameters ?? []) !== undefined)
    throw new BadInputError(`Each name in "${argument}" must occur only once, but one name occurs twice.`);
  return new Map(parameters?.map(({ name, value }) => [name, value]));
}

export function findRepeatedName(parameters: readonly { name: string }[]): string | undefined {
  const seen = new Set<string>();
  return parameters.find(({ name }) => seen.size === seen.add(name).size)?.name;
}

const templateList = defineList(Template, 'templates');

builder.objectFields(Channel, (t) => ({
  templates: t.field({
    ...templateList.field,
    description: 'The templates of the channel. Costs `GET /v1/channels/{id}/templates`.',
    resolve: ({ name: channel }, args, { loaders }) =>
      templateList.read(loaders.templatePage, args, { channel }),
  }),
  template: t.field({
    type: Template,
    nullable: true,
    description:
      'The template with this name, or null if it does not exist. Costs `GET /v1/channels/{id}/templates` (once for ' +
      'all templates of the channel).',
    args: {
      name: t.arg.string({ required: true, description: 'The name of the template.' }),
      language: t.arg.string({
        description: 'The language code of the template, such as `es`. By default, any language matches.',
      }),
    },
    resolve: (channel, { name, language }, { loaders }) =>
      findTemplate({ channel: channel.name, name, language }, loaders),
  }),
}));

/**
 * By default the first template with the name, in any language. A name that is missing may be newer than a cached page. Then
 * the list is read once more.
 */
export async function findTemplate(
  { channel, name, language }: { channel: string; name: string; language?: string | null | undefined },
  { templatePage, templatesByChannel }: Loaders,
): Promise<TemplateJson | null> {
  const mayBeOld = templatePage.isCacheUsed;
  const isMatch = (found: TemplateJson) =>
    found.name === name && found.language === (language ?? found.language);
  const find = async () => ((await templatesByChannel.load(channel)) ?? []).find(isMatch) ?? null;
  const found = await find();
  if (found !== null || !mayBeOld) return found;
  if (templatePage.forgetEarlier()) templatesByChannel.clearAll();
  return find();
}
