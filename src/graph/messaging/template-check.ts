import * as v from 'valibot';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import type { Loaders } from '../../loaders/loaders.ts';
import { pagesFrom } from '../../loaders/paging/page-walk.ts';
import type { Page } from '../../rest/api-types.ts';
import { AbortedError, InvalidResponseError } from '../../rest/errors.ts';
import type { TemplateJson } from '../../rest/wire-schema.ts';
import { InvalidInputError } from '../mutation/define-mutation.ts';
import type { InvalidFieldSource } from '../mutation/user-error.ts';
import type { MessageContent } from './message-content-input.ts';
import { parameterNames } from './template-text.ts';

type TemplateInput = NonNullable<MessageContent['template']>;
type Rows = Page<TemplateJson>['rows'];

/**
 * Compares a template with its definition before the message is sent. If the definition can't be read, REST alone
 * validates the message.
 * @throws InvalidInputError with all errors of the template
 */
export async function checkTemplateFits(
  { template }: MessageContent,
  channel: string,
  loaders: Loaders,
): Promise<void> {
  if (template === undefined) return;
  if (findErrors(template, await readTemplates(channel, loaders)).length === 0) return;
  // An older list may lack a new template. Read the list again before the template is rejected.
  if (loaders.templatePage.forgetEarlier()) loaders.templatesByChannel.clearAll();
  const errors = findErrors(template, await readTemplates(channel, loaders));
  if (errors.length > 0) throw new InvalidInputError(errors);
}

/** Invalid records included. Undefined if the list can't be read. */
async function readTemplates(channel: string, { templatePage }: Loaders): Promise<Rows | undefined> {
  try {
    const pages = await Array.fromAsync(pagesFrom(templatePage, { channel }));
    return pages.flatMap(({ rows }) => rows);
  } catch (error) {
    // After an abort nothing may be sent.
    if (error instanceof AbortedError) throw error;
    return undefined;
  }
}

function findErrors(template: TemplateInput, rows: Rows | undefined): InvalidFieldSource[] {
  if (rows === undefined) return [];
  const readable = rows.filter(
    (row): row is TemplateJson => !(row instanceof InvalidResponseError) && typeof row.language === 'string',
  );
  const sameName = readable.filter(({ name }) => name === template.name);
  const definition = sameName.find(({ language }) => language === template.language);
  if (definition !== undefined) {
    // Its parameters are not certain, so REST alone validates the values.
    if (!v.is(definitionShape, definition)) return [];
    return [
      ...parameterErrors('header', template.headerParameters, definition),
      ...parameterErrors('body', template.bodyParameters, definition),
    ];
  }
  // An invalid record may be the requested template.
  if (readable.length < rows.length) return [];
  if (sameName.length > 0) {
    const expected = `a language of the template (${oneOfNames(sameName.map(({ language }) => language))})`;
    return [wrongValue('content.template.language', expected, template.language, 'NOT_FOUND')];
  }
  const expected = `a template of the channel (${oneOfNames(readable.map(({ name }) => name))})`;
  return [wrongValue('content.template.name', expected, template.name, 'NOT_FOUND')];
}

function wrongValue(path: string, expected: string, value: string, code: 'NOT_FOUND' | 'NOT_ALLOWED') {
  return { path, message: `must be ${expected}, but is ${quoteForMessage(value)}`, code };
}

/**
 * A template text whose parameters are certain: it defines all its placeholders, or has no definitions at all. If it
 * defines only some, REST alone knows the values that the others need.
 */
const textShape = v.pipe(
  v.object({ text: v.string(), parameters: v.nullish(v.array(v.object({ name: v.string() }))) }),
  v.check(({ text, parameters }) => {
    const defined = new Set(parameters?.map(({ name }) => name));
    return !parameters || parameterNames({ text, parameters }).size === defined.size;
  }),
);

/** The parts of "Template" that define parameters. */
const definitionShape = v.object({ header: v.nullish(textShape), body: textShape });

function parameterErrors(
  part: 'header' | 'body',
  values: TemplateInput['bodyParameters'] = [],
  definition: TemplateJson,
): InvalidFieldSource[] {
  const path = `content.template.${part}Parameters`;
  const names = parameterNames(definition[part]);
  const given = new Set(values.map(({ name }) => name));
  const expected = `a parameter in the ${part} of the template (${oneOfNames(names)})`;
  const missing = [...names.difference(given)].map((name) => {
    const message = `must have a value for ${quoteForMessage(name)}`;
    return { path, message, code: 'REQUIRED' as const };
  });
  const unknown = values.flatMap(({ name }, index) =>
    names.has(name) ? [] : [wrongValue(`${path}.${index}.name`, expected, name, 'NOT_ALLOWED')],
  );
  return [...missing, ...unknown];
}

const maxShownNames = 10;

function oneOfNames(names: Iterable<string>): string {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return 'none exists';
  const omitted = distinct.length - maxShownNames;
  const list = distinct
    .slice(0, maxShownNames)
    .map((name) => quoteForMessage(name))
    .join(', ');
  return `one of ${list}${omitted > 0 ? ` and ${omitted} more` : ''}`;
}
