import { quoteForMessage } from '../base/quote-for-message.ts';
import { BadInputError } from './errors.ts';
import { customNames, type ResourceKind, wireSchemas } from './wire-schema.ts';

/**
 * The collections whose names have the form `<collection>/<identifier>` ("What the service does", Conventions). Kinds
 * of records with names of other forms are left out. Couriers are added: they have such a name, but no record.
 */
export type Collection = Exclude<ResourceKind, keyof typeof customNames> | 'couriers';

/** A resource name: `<collection>/<identifier>`. */
export type ResourceName<C extends Collection = Collection> = `${C}/${string}`;

// The interface does not define the allowed characters. ".", ".." or a slash would change the path of the request.
// Half of a surrogate pair cannot be encoded. The length counts Unicode characters.
const identifierPattern = '(?!\\.{1,2}(?:/|$))[^/\\p{Cc}\\p{Cs}]{1,256}';

/** Matches a form, such as `orders/<identifier>`. Each identifier is a group of the match. */
export const pattern = (form: string) =>
  new RegExp(`^${form.replaceAll('<identifier>', `(${identifierPattern})`)}$`, 'u');

/** Matches a bare identifier. */
export const identifier = pattern('<identifier>');
/** The rule as a sentence for error messages. */
export const identifierRule =
  'an identifier has 1 to 256 characters without slashes or control characters, and is not "." or "..".';

/**
 * The resource name for an id from a client. The id is a resource name or a bare identifier.
 * @throws BadInputError if `id` is neither, or is the name of another collection.
 */
export function resourceName<C extends Collection>(collection: C, id: string): ResourceName<C> {
  if (isResourceName(collection, id)) return id;
  const slash = id.indexOf('/');
  if (slash !== -1 && id.slice(0, slash) !== collection) {
    throw new BadInputError(
      `Expected an id of the form "${collection}/<identifier>", but got ${quoteForMessage(id)}.`,
    );
  }
  const bare = id.slice(slash + 1);
  if (identifier.test(bare)) return `${collection}/${bare}`;
  throw new BadInputError(
    `Expected an id of ${collection}, but got ${quoteForMessage(id)}: ${identifierRule}`,
  );
}

/** The bare identifier for an id from a client. @throws BadInputError like `resourceName`. */
export function bareIdentifier(collection: Collection, id: string): string {
  return resourceName(collection, id).slice(collection.length + 1);
}

/** The path of a record. */
export function recordPath<C extends Collection>(collection: C, name: ResourceName<C>): string {
  return `/v1/${collection}/${encodeURIComponent(name.slice(collection.length + 1))}`;
}

/** The form of the names of a kind of records. */
export function nameForm(kind: ResourceKind | 'couriers'): string {
  const customForms: Partial<Record<string, string>> = customNames;
  return customForms[kind] ?? `${kind}/<identifier>`;
}

// Compiled once, because every row of a list is checked.
const namePatterns = Object.fromEntries(
  ([...Object.keys(wireSchemas), 'couriers'] as (ResourceKind | 'couriers')[]).map((kind) => {
    const form = nameForm(kind);
    // A template has the name that the merchant chose.
    return [kind, form === customNames.templates ? /^/ : pattern(form)];
  }),
) as Record<ResourceKind | 'couriers', RegExp>;

/** Whether a text is a name of this kind of records. */
export function isNameFor(kind: ResourceKind | 'couriers', name: string): boolean {
  return namePatterns[kind].test(name);
}

/** Whether a value is a resource name of `collection`. The value may come from REST or from a client. */
export function isResourceName<C extends Collection>(
  collection: C,
  value: unknown,
): value is ResourceName<C> {
  return typeof value === 'string' && isNameFor(collection, value);
}
