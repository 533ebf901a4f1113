/** How large a document may be, and the values that come with it. A limit is what is still allowed. */
export interface Limits {
  /** Characters of the text, in UTF-16 units. */
  documentCharacters: number;
  tokens: number;
  /** Brackets within brackets, of documents and of the JSON of variables. */
  nesting: number;
  /** Fields within fields, with fragments spread out; those of an introspection have their own limit. */
  depth: number;
  introspectionDepth: number;
  /** Fields and fragments of a document, each as often as it is spread. */
  selections: number;
  /** Definitions of fragments. Validation compares each with each. */
  fragments: number;
  /** How often one field may stand in one place. Validation compares each with each. */
  repeats: number;
  /** Aliases of an operation, each as often as it is spread. */
  aliases: number;
  /** Fields at the root of an operation. */
  rootFields: number;
  /** Directives of an operation, each as often as it is spread. */
  directives: number;
  /** Items of one list, in an argument or a variable, at any level. */
  listItems: number;
  /** Fields of one input object, in an argument or a variable, at any level; known ones and others. */
  inputFields: number;
  /** Fields and items in all variables of an operation. */
  values: number;
  /** Characters of the texts and names of fields in all variables of an operation, in UTF-16 units. */
  valueCharacters: number;
  /** Rows of one page. */
  first: number;
  /** Objects that an operation can give at most. */
  nodes: number;
  /** Errors that are told of one refused request. */
  errors: number;
}

export const standardLimits: Limits = {
  documentCharacters: 262_144,
  tokens: 5_000,
  nesting: 50,
  depth: 12,
  introspectionDepth: 20,
  selections: 2_000,
  fragments: 100,
  repeats: 50,
  aliases: 30,
  rootFields: 20,
  directives: 50,
  listItems: 100,
  inputFields: 50,
  values: 10_000,
  valueCharacters: 262_144,
  first: 1_000,
  nodes: 10_000,
  errors: 5,
};
