import { type ASTNode, GraphQLError } from 'graphql';

/** The limits that are settings. A limit is the largest number that is still allowed. */
export interface Limits {
  /** Tokens of a document. */
  tokens: number;
  /** Fields within fields, with fragments spread out; those of an introspection have their own limit. */
  depth: number;
  /** Aliases of an operation, each as often as it is spread. */
  aliases: number;
  /** Items of one list, in an argument or a variable, at any level. */
  listItems: number;
  /** Characters of the texts and names of fields in all variables of an operation, in UTF-16 units. */
  valueCharacters: number;
  /** Rows of one page. */
  first: number;
  /** Objects that an operation can give at most. */
  nodes: number;
}

/** The limits that are the same for every server: they keep the cost of a request within bounds before it runs. */
export const fixedLimits = {
  /** UTF-16 units of a document. Its text is kept in memory, and no query of a screen comes near this. */
  documentCharacters: 262_144,
  /** Brackets within brackets, of a document or of the JSON of its variables. Parsers use stack for each. */
  nesting: 50,
  /** Fields within fields of an introspection. The query of GraphiQL has up to 15. */
  introspectionDepth: 20,
  /** Fields and fragments of a document, each as often as it is spread. Validation walks them all. */
  selections: 2_000,
  /** Definitions of fragments in a document. Validation compares each with each. */
  fragments: 100,
  /** How often one field may stand in one place. Validation compares each with each. */
  repeats: 50,
  /** Fields at the root of an operation. Each is a REST call or more, and a screen needs a few. */
  rootFields: 20,
  /** Directives of an operation, each as often as it is spread. The executor evaluates each for every object. */
  directives: 50,
  /** Fields of one input object, at any level. Validation prints the object again for each unknown field. */
  inputFields: 50,
  /** Fields and items in all variables of an operation. Each is held against its type. */
  values: 10_000,
  /** Things that one operation writes. A person confirms no more than these on a page. */
  writes: 100,
};

/** How many errors of a refused request are shown. Each may quote the document. */
export const maxErrorsShown = 5;

type LimitName = Exclude<keyof Limits, 'first'> | keyof typeof fixedLimits;

/** What each limit counts, and what to do beyond it. */
const descriptions: Record<LimitName, [counted: string, advice: string]> = {
  documentCharacters: ['characters in the document', 'Send values as variables, and leave out comments.'],
  tokens: ['tokens in the document', 'Split it into several documents.'],
  nesting: ['brackets within brackets', 'Nest less deeply.'],
  depth: ['fields within fields, fragments spread out', 'Ask for what lies deeper by its id.'],
  introspectionDepth: ['fields of the introspection within fields', 'Ask for fewer levels of types.'],
  selections: ['fields and fragments, as often as they are spread', 'Split the document into several.'],
  fragments: ['fragments in the document', 'Split it into several documents.'],
  repeats: ['times the same field in one place', 'Ask for it once.'],
  aliases: ['aliases, as often as they are spread', 'Split the operation into several.'],
  rootFields: ['fields at the root', 'Split the operation into several.'],
  directives: ['directives, as often as they are spread', 'Split the operation into several.'],
  listItems: ['items in one list', 'Split the list over several operations.'],
  inputFields: ['fields in one input object', 'Send the fields of its type alone, each once.'],
  values: ['fields and items in the variables', 'Split the operation into several.'],
  valueCharacters: [
    'characters in the variables',
    'Split the operation into several, or send shorter texts.',
  ],
  writes: ['writes, each item of a list being one', 'Split the operation into several.'],
  nodes: ['objects at most', 'Lower "first", or nest fewer lists in lists.'],
};

// Beyond this the number itself says nothing more, and it may be infinite.
const largestNumberShown = 1_000_000;

/**
 * The refusal of what is larger than a limit: names the limit, what is allowed, what came, and what to do.
 * @param came the number, or "more than …" where counting ended early.
 */
export function limitExceeded(
  limit: LimitName,
  allowed: number,
  actual: number | string,
  node?: ASTNode,
): GraphQLError {
  const [counted, advice] = descriptions[limit];
  const shownActual =
    typeof actual === 'number' && actual > largestNumberShown ? `more than ${largestNumberShown}` : actual;
  return limitError(
    `The limit "${limit}" allows ${allowed}, but there are ${shownActual} ${counted}. ${advice}`,
    node,
  );
}

/** The refusal of a page that is too large, or of less than no rows. */
export function firstOutOfRange(
  field: string,
  allowed: number,
  actual: number,
  node?: ASTNode,
): GraphQLError {
  return limitError(`Expected "first" of ${field} to be from 0 to ${allowed}, but got ${actual}.`, node);
}

function limitError(message: string, node: ASTNode | undefined): GraphQLError {
  const extensions = { code: 'GRAPHQL_LIMIT_EXCEEDED', http: { status: 400 } };
  return new GraphQLError(message, { nodes: node, extensions });
}
