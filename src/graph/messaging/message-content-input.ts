import * as v from 'valibot';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { SendMessageJson } from '../../rest/api-types.ts';
import { builder } from '../builder.ts';
import { rule } from '../mutation/input-rules.ts';
import { findRepeatedName, parameterFields } from './template.ts';

const SendTemplateInput = builder.inputType('SendTemplateInput', {
  description:
    'A template of the channel, with a value for each parameter. `Template.preview` shows the resulting message.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the template.' }),
    language: t.string({ required: true, description: 'The language code of the template, such as `es`.' }),
    ...parameterFields(t),
  }),
});

export const MessageContentInput = builder.inputType('MessageContentInput', {
  description: 'The content of a message: either a text or a template.',
  isOneOf: true,
  fields: (t) => ({
    text: t.string({ description: 'The text that the customer reads.' }),
    template: t.field({ type: SendTemplateInput, description: 'A template with its values.' }),
  }),
});

// REST takes the values as a map.
const parameterRules = v.pipe(
  v.array(v.object({ name: v.string(), value: v.string() })),
  rule((parameters: { name: string; value: string }[]) => {
    const repeated = findRepeatedName(parameters);
    if (repeated === undefined) return undefined;
    const message = `must contain each name only once, but contains ${quoteForMessage(repeated)} twice`;
    return { code: 'DUPLICATE', message };
  }),
);

/** The rules of the body of a new message ("Endpoints"). `isOneOf` ensures exactly one of the two fields. */
export const messageContentRules = v.object({
  text: v.exactOptional(v.string()),
  template: v.exactOptional(
    v.object({
      name: v.string(),
      language: v.string(),
      headerParameters: v.exactOptional(parameterRules),
      bodyParameters: v.exactOptional(parameterRules),
    }),
  ),
});

export type MessageContent = v.InferOutput<typeof messageContentRules>;

/** The REST interface shows the shape of a template in responses only ("Message"). */
export function messageJson({ text = '', template }: MessageContent): SendMessageJson {
  if (template === undefined) return { text };
  const headerParameters = valuesByName(template.headerParameters);
  const bodyParameters = valuesByName(template.bodyParameters);
  return { template: { name: template.name, language: template.language, headerParameters, bodyParameters } };
}

function valuesByName(parameters: readonly { name: string; value: string }[] = []): Record<string, string> {
  // An assignment would lose a parameter named `__proto__`.
  return Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
}
