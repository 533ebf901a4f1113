import type { Loaders } from '../../loaders/loaders.ts';
import { BadInputError } from '../../rest/errors.ts';
import type { TemplateJson, TemplateParameterJson, TemplateTextJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { defineList } from '../relay/connection.ts';
import { Channel } from './channel.ts';
import { type FilledTemplate, fillTemplate } from './template-text.ts';

const TemplateParameterDefinition = builder
  .objectRef<TemplateParameterJson>('TemplateParameterDefinition')
  .implement({
    description: 'A place in the text of a template that every message fills in.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'Its name, as it stands in `{{name}}`.' }),
      example: t.exposeString('example', { nullable: true, description: 'A value to show what is meant.' }),
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

const TemplatePreview = builder.objectRef<FilledTemplate>('TemplatePreview').implement({
  description: 'A template as the customer would read it, and what is wrong with the parameters.',
  fields: (t) => ({
    header: t.exposeString('header', { nullable: true, description: 'The header, filled in.' }),
    body: t.exposeString('body', {
      nullable: true,
      description: 'The body, filled in. What has no value keeps its `{{name}}`.',
    }),
    footer: t.exposeString('footer', { nullable: true, description: 'The footer.' }),
    missing: t.exposeStringList('missing', { description: 'The parameters that have no value.' }),
    unknown: t.exposeStringList('unknown', {
      description: 'The values that the template has no parameter for.',
    }),
  }),
});

export const TemplateParameterInput = builder.inputType('TemplateParameterInput', {
  description: 'The value of one parameter of a template.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name, as it stands in `{{name}}`.' }),
    value: t.string({ required: true, description: 'The text to put there.' }),
  }),
});

export const Template = builder.objectRef<TemplateJson>('Template').implement({
  description: 'A message of a channel, approved once and sent many times with other parameters.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name; with the language it is unique.' }),
    language: t.exposeString('language', { description: 'The language code, such as `es`.' }),
    category: t.exposeString('category', {
      nullable: true,
      description: 'What it is for, in the words of the network.',
    }),
    header: t.expose('header', {
      type: TemplateText,
      nullable: true,
      description: 'The line above the body.',
    }),
    body: t.expose('body', { type: TemplateText, nullable: true, description: 'The text of the message.' }),
    footer: t.exposeString('footer', { nullable: true, description: 'The line below the body.' }),
    buttons: t.stringList({
      description: 'The captions of its buttons.',
      resolve: ({ buttons }) => buttons ?? [],
    }),
    preview: t.field({
      type: TemplatePreview,
      description: 'The template filled in with these values. Nothing is sent, and no call is made.',
      args: {
        headerParameters: t.arg({
          type: [TemplateParameterInput],
          description: 'The values for the header.',
        }),
        bodyParameters: t.arg({ type: [TemplateParameterInput], description: 'The values for the body.' }),
      },
      resolve: (template, { headerParameters, bodyParameters }) =>
        fillTemplate(template, {
          header: valuesByName('headerParameters', headerParameters),
          body: valuesByName('bodyParameters', bodyParameters),
        }),
    }),
  }),
});

/** @throws BadInputError for a repeated name, because one of its values would be lost. */
function valuesByName(
  argument: string,
  parameters: readonly (typeof TemplateParameterInput.$inferInput)[] | null | undefined,
): Map<string, string> {
  const values = new Map(parameters?.map(({ name, value }) => [name, value]));
  if (values.size === (parameters?.length ?? 0)) return values;
  throw new BadInputError(`Expected each name in "${argument}" once, but one of them comes twice.`);
}

const templateList = defineList(Template, 'templates');

builder.objectFields(Channel, (t) => ({
  templates: t.field({
    type: templateList.type,
    nullable: true,
    description: 'The templates of the channel. Costs `GET /v1/channels/{id}/templates`.',
    args: templateList.args,
    resolve: ({ name: channel }, args, { loaders }) =>
      templateList.read(loaders.templatePage, args, { channel }),
  }),
  template: t.field({
    type: Template,
    nullable: true,
    description:
      'The template of this name, or null where there is none. Costs `GET /v1/channels/{id}/templates`, once for all.',
    args: {
      name: t.arg.string({ required: true, description: 'The name of the template.' }),
      language: t.arg.string({
        description: 'The language code; left out, the first of that name is given.',
      }),
    },
    resolve: (channel, { name, language }, { loaders }) =>
      findTemplate({ channel: channel.name, name, language }, loaders),
  }),
}));

interface TemplateKey {
  channel: string;
  name: string;
  /** By default the first template with the name matches. */
  language?: string | null | undefined;
}

export async function findTemplate(
  { channel, name, language }: TemplateKey,
  { templatesByChannel }: Loaders,
): Promise<TemplateJson | null> {
  const templates = (await templatesByChannel.load(channel)) ?? [];
  return (
    templates.find((found) => found.name === name && found.language === (language ?? found.language)) ?? null
  );
}
