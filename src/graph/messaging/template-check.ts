import * as v from 'valibot';
import { type Loaders, maxPageSize } from '../../loaders/loaders.ts';
import { pagesFrom } from '../../loaders/paging/page-loader.ts';
import { AbortedError, InvalidResponseError } from '../../rest/errors.ts';
import { shown } from '../../rest/resource-name.ts';
import type { Page } from '../../rest/types.ts';
import type { TemplateJson } from '../../rest/wire-schema.ts';
import { InvalidInputError } from '../input/run-mutation.ts';
import type { InvalidFieldSource } from '../input/user-error.ts';
import type { MessageContent } from './message-content-input.ts';
import { parameterNames } from './template-text.ts';

type Template = NonNullable<MessageContent['template']>;
type Rows = Page<TemplateJson>['rows'];

/**
 * Holds a template against its definition before it is sent. Only what is known to be wrong is refused: where the
 * definition can't be read, the message goes to REST, which looks too.
 * @throws InvalidInputError with every fault.
 */
export async function expectFit(
  { template }: MessageContent,
  channel: string,
  loaders: Loaders,
): Promise<void> {
  if (template === undefined) return;
  if ((await errorsIn(template, channel, loaders)).length === 0) return;
  // What an earlier request has read refuses nothing, as the template may have come since.
  loaders.templatePage.forgetEarlier();
  const errors = await errorsIn(template, channel, loaders);
  if (errors.length > 0) throw new InvalidInputError(errors);
}

async function errorsIn(
  template: Template,
  channel: string,
  loaders: Loaders,
): Promise<InvalidFieldSource[]> {
  const rows = await templatesOf(channel, loaders);
  return rows === undefined ? [] : errorsOf(template, rows);
}

/** Every template of a channel, the broken ones too, or undefined where the list can't be read. */
async function templatesOf(channel: string, { templatePage }: Loaders): Promise<Rows | undefined> {
  const rows: Rows[number][] = [];
  try {
    for await (const page of pagesFrom(templatePage, { channel, pageSize: maxPageSize.templates })) {
      rows.push(...page.rows);
    }
    return rows;
  } catch (error) {
    // A client that has left sees to no message; with anything else, had it been about the message, so will sending it.
    if (error instanceof AbortedError) throw error;
    return undefined;
  }
}

function errorsOf(template: Template, rows: Rows): InvalidFieldSource[] {
  const readable = rows.filter(hasNameAndLanguage);
  const ofName = readable.filter(({ name }) => name === template.name);
  const definition = ofName.find(({ language }) => language === template.language);
  if (definition !== undefined) {
    if (!v.is(definitionShape, definition)) return [];
    return [
      ...parameterErrors('header', template.headerParameters, definition),
      ...parameterErrors('body', template.bodyParameters, definition),
    ];
  }
  // One that is broken may be the one that is meant.
  if (readable.length < rows.length) return [];
  if (ofName.length > 0) {
    const languages = ofName.map(({ language }) => language);
    const message = `must be one in which the template exists, ${oneOf(languages)}, but is ${shown(template.language)}`;
    return [{ path: 'content.template.language', message }];
  }
  const names = readable.map(({ name }) => name);
  const message =
    names.length === 0
      ? `must be a template of the channel, which has none, but is ${shown(template.name)}`
      : `must be a template of the channel, ${oneOf(names)}, but is ${shown(template.name)}`;
  return [{ path: 'content.template.name', message }];
}

function hasNameAndLanguage(row: Rows[number]): row is TemplateJson {
  return !(row instanceof InvalidResponseError) && typeof row.language === 'string';
}

/** A text whose placeholders are all defined; what is to be given for others, nobody but REST can tell. */
const textShape = v.pipe(
  v.object({ text: v.string(), parameters: v.nullish(v.array(v.object({ name: v.string() }))) }),
  v.check(({ text, parameters }) => {
    const defined = new Set(parameters?.map(({ name }) => name));
    return !parameters || parameterNames({ text, parameters }).size === defined.size;
  }),
);

/** "Template" of the interface, as far as it says what is to be given. */
const definitionShape = v.object({ header: v.nullish(textShape), body: textShape });

/** What is missing in one part of a template, and what it does not ask for. */
function parameterErrors(
  part: 'header' | 'body',
  given: Template['bodyParameters'] = [],
  definition: TemplateJson,
): InvalidFieldSource[] {
  const path = `content.template.${part}Parameters`;
  const names = parameterNames(definition[part]);
  const givenNames = new Set(given.map(({ name }) => name));
  const missing = [...names].filter((name) => !givenNames.has(name));
  const expected =
    names.size === 0
      ? `must be left out, as the ${part} of the template takes no values`
      : `must be a parameter in the ${part} of the template, ${oneOf(names)}`;
  return [
    ...missing.map((name) => ({ path, message: `must have a value for ${shown(name)}` })),
    ...given.flatMap(({ name }, index) =>
      names.has(name)
        ? []
        : [{ path: `${path}.${index}.name`, message: `${expected}, but is ${shown(name)}` }],
    ),
  ];
}

const mostShown = 10;

/** Names to choose from, each once, as far as a person wants to read them. */
function oneOf(names: Iterable<string>): string {
  const each = [...new Set(names)];
  const more = each.length - mostShown;
  const list = each.slice(0, mostShown).map(shown).join(', ');
  return `one of ${list}${more > 0 ? ` and ${more} more` : ''}`;
}
