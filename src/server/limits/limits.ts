import { type ASTNode, GraphQLError } from 'graphql';

/** The limits that tests change. A limit is the largest allowed number. */
export interface Limits {
  /** Tokens of a document. */
  tokens: number;
  /** Nesting of fields, fragments expanded. Introspection has a limit of its own. */
  depth: number;
  /** Aliases of an operation, fragments expanded. */
  aliases: number;
  /** Items of one list in an argument or a variable, at any level. */
  listItems: number;
  /** UTF-16 units of all strings and field names in the variables of an operation. */
  valueCharacters: number;
  /** Rows of one page. */
  first: number;
  /** The maximum number of objects in the response of an operation. */
  nodes: number;
}

/** All but `nodes`, which is a setting. */
export const defaultLimits: Omit<Limits, 'nodes'> = {
  tokens: 5_000,
  depth: 12,
  aliases: 30,
  listItems: 100,
  valueCharacters: 262_144,
  first: 1_000,
};

/** The limits that are the same for every server. They bound the cost of a request before its execution. */
export const fixedLimits = {
  /** UTF-16 units of a document. The text is kept in memory. Typical queries are far shorter. */
  documentCharacters: 262_144,
  /** Nesting of brackets in a document, and in the JSON of its variables. Parsers use stack for each level. */
  nesting: 50,
  /** Nesting of fields in an introspection. GraphiQL's query has up to 15 levels. */
  introspectionDepth: 20,
  /** Fields and fragments of a document, fragments expanded. Validation walks them all. */
  selections: 2_000,
  /** Fragment definitions of a document. Validation compares every pair. */
  fragments: 100,
  /** Repetitions of a field under one response name in one selection set. Validation compares every pair. */
  repeats: 50,
  /** Fields at the root of an operation. Each makes at least one REST call, and a typical screen needs a few. */
  rootFields: 20,
  /** Directives of an operation, fragments expanded. The executor evaluates each directive for every object. */
  directives: 50,
  /** Fields of one input object, at any level. Validation prints the object again for each unknown field. */
  inputFields: 50,
  /** Fields and items in all variables of an operation. Each is validated against its type. */
  values: 10_000,
  /** Records that one operation may write: as many as a person confirms on one page. */
  writes: 100,
};

/** The maximum number of errors in the response to a rejected request. Each error may quote the document. */
export const maxErrorsShown = 5;

type LimitName = Exclude<keyof Limits, 'first'> | keyof typeof fixedLimits;

/** For each limit: the counted things, and the advice if the limit is exceeded. */
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

// Larger numbers, which may be infinite, are not useful in a message.
const largestNumberShown = 1_000_000;

/**
 * The error for a value that exceeds a limit, with the limit, the allowed number, the actual number and advice.
 * @param actual the number, or "more than …" if counting ended early.
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

/** The error for an argument `first` that is out of range. `field` is a coordinate such as `Order.shipments`. */
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
