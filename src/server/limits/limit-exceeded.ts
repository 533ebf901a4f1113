import { type ASTNode, GraphQLError } from 'graphql';
import type { Limits } from './limits.ts';

/** What each limit counts, and what to do beyond it. */
const words: Record<Exclude<keyof Limits, 'first' | 'errors'> | 'writes', [counted: string, advice: string]> =
  {
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
const largestTold = 1_000_000;

/**
 * The refusal of what is larger than a limit: names the limit, what is allowed, what came, and what to do.
 * @param came the number, or "more than …" where counting ended early.
 */
export function limitExceeded(
  limit: keyof typeof words,
  allowed: number,
  came: number | string,
  node?: ASTNode,
): GraphQLError {
  const [counted, advice] = words[limit];
  const told = typeof came === 'number' && came > largestTold ? `more than ${largestTold}` : came;
  const message = `The limit "${limit}" allows ${allowed}, but there are ${told} ${counted}. ${advice}`;
  return refusal(message, node);
}

/** The refusal of a page that is too large, or of less than no rows. */
export function firstOutOfRange(field: string, allowed: number, came: number, node?: ASTNode): GraphQLError {
  return refusal(`Expected "first" of ${field} to be from 0 to ${allowed}, but got ${came}.`, node);
}

function refusal(message: string, node: ASTNode | undefined): GraphQLError {
  const extensions = { code: 'GRAPHQL_LIMIT_EXCEEDED', http: { status: 400 } };
  return new GraphQLError(message, { nodes: node, extensions });
}
