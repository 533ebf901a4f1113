import * as v from 'valibot';
import type { SendMessageJson } from '../../rest/types.ts';
import { builder } from '../builder.ts';
import { fields, listOf, optional, text } from '../input/input-rules.ts';
import { TemplateParameterInput } from './template.ts';

const SendTemplateInput = builder.inputType('SendTemplateInput', {
  description:
    'A template of the channel, with a value for each of its parameters. `Template.preview` shows what the customer will ' +
    'read.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the template.' }),
    language: t.string({ required: true, description: 'The language code to send it in, such as `es`.' }),
    headerParameters: t.field({
      type: [TemplateParameterInput],
      description: 'The values for the header, each name once.',
    }),
    bodyParameters: t.field({
      type: [TemplateParameterInput],
      description: 'The values for the body, each name once.',
    }),
  }),
});

export const MessageContentInput = builder.inputType('MessageContentInput', {
  description: 'What a message consists of: either a text or a template.',
  isOneOf: true,
  fields: (t) => ({
    text: t.string({ description: 'Free text, as the customer will read it.' }),
    template: t.field({ type: SendTemplateInput, description: 'A template with its values.' }),
  }),
});

/** Values by name, of which each has one: REST takes them as a map. */
const parameters = v.pipe(
  listOf(fields({ name: text, value: text })),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    const names = new Set<string>();
    for (const [index, value] of input.entries()) {
      if (names.size < names.add(value.name).size) continue;
      addIssue({
        message: `must be another name than those before it: ${JSON.stringify(value.name)} is given already`,
        path: [
          { type: 'array', origin: 'value', input, key: index, value },
          { type: 'object', origin: 'value', input: { ...value }, key: 'name', value: value.name },
        ],
      });
    }
  }),
);

/** "Create Message" of the interface. That it is one of the two, GraphQL has seen to already. */
export const messageContentRules = fields({
  text: optional(text),
  template: optional(
    fields({
      name: text,
      language: text,
      headerParameters: optional(parameters),
      bodyParameters: optional(parameters),
    }),
  ),
});

export type MessageContent = v.InferOutput<typeof messageContentRules>;

/** What REST takes. It leaves a template's shape open, so that it gets the one in which it answers templates itself. */
export function messageJson({ text = '', template }: MessageContent): SendMessageJson {
  if (template === undefined) return { text };
  const { name, language, headerParameters, bodyParameters } = template;
  return {
    template: {
      name,
      language,
      headerParameters: valuesByName(headerParameters),
      bodyParameters: valuesByName(bodyParameters),
    },
  };
}

/**
 * Not by assignment, which would lose a parameter called `__proto__`; in the order of the names, as it makes no other
 * message in whichever order they are given.
 */
function valuesByName(parameters: readonly { name: string; value: string }[] = []): Record<string, string> {
  const sorted = parameters.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(sorted.map(({ name, value }) => [name, value]));
}
