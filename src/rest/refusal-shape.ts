import type { RefusedField } from './errors.ts';

/**
 * What the parts of a refusal are called in the usual frameworks, in the order in which the names are believed. Case,
 * `_` and `-` do not count: `invalid-params` is `invalidParams`.
 */
const names = {
  /** What is wrong as a whole, or a list with an item for each fault. */
  message: ['message', 'detail', 'title', 'errorDescription', 'error'],
  /** The faults, as a list or as a map by field. */
  faults: [
    'details',
    'errors',
    'fieldViolations',
    'violations',
    'validationErrors',
    'invalidParams',
    'issues',
    'fields',
    'fieldErrors',
    'children',
  ],
  /** Where one fault is. */
  path: [
    'field',
    'path',
    'name',
    'loc',
    'instancePath',
    'pointer',
    'property',
    'propertyPath',
    'propertyName',
    'param',
    'source',
  ],
  /** What is wrong there. */
  reason: [
    'message',
    'description',
    'reason',
    'msg',
    'detail',
    'title',
    'defaultMessage',
    'errorMessage',
    'error',
    'messages',
    'constraints',
  ],
};

/** What a refusal's body says, in REST's own words and at REST's own length. */
export interface Said {
  /** What is wrong as a whole, the most telling first. */
  messages: string[];
  fields: RefusedField[];
}

/** Reads the JSON of a refusal. What goes by none of the `names` is not taken for something that is meant for a client. */
export function saidIn(body: string): Said {
  const json = parsed(body);
  if (!isObject(json)) return { messages: [], fields: [] };
  const places = isObject(json.error) ? [json.error, json] : [json];
  const told = places.flatMap((place) => under(names.message, place)).map(unpacked);
  const faults = [
    ...places.flatMap((place) => faultsListedIn(place, '')),
    ...told.filter(Array.isArray).flatMap((list) => faultsIn(list)),
  ];
  const general = faults.filter(({ path }) => path === '').map(({ message }) => message);
  return {
    messages: [told.find(isText), ...general].filter(isText),
    fields: faults.filter(({ path }) => path !== ''),
  };
}

function faultsListedIn(place: Record<string, unknown>, at: string): RefusedField[] {
  const listed = under(names.faults, place).filter((value) => !isText(value));
  return listed.flatMap((value) => faultsIn(value, at));
}

/** The faults in a list, a map or a text, below the path `at`. A fault of no field in particular has an empty path. */
function faultsIn(value: unknown, at = ''): RefusedField[] {
  if (isText(value)) return [at === '' ? faultOfSentence(value) : { path: at, message: value }];
  // Several messages of one field are one.
  if (isTexts(value) && at !== '') return [{ path: at, message: value.join('; ') }];
  if (Array.isArray(value)) return value.flatMap((entry) => faultsOfEntry(entry, at));
  return isObject(value) ? faultsOfMap(value, at) : [];
}

/** One fault, or those that it holds in turn, as google.rpc.BadRequest does in `details`. */
function faultsOfEntry(entry: unknown, at: string): RefusedField[] {
  if (!isObject(entry)) return isText(entry) ? faultsIn(entry, at) : [];
  const path = joined(at, under(names.path, entry).map(dotted).find(isText));
  const reason = under(names.reason, entry).map(wording).find(isText);
  if (path !== at && reason !== undefined) return [{ path, message: reason }];
  const inner = faultsListedIn(entry, path);
  if (inner.length > 0) return inner;
  if (path !== at) return [{ path, message: 'was refused' }];
  // What google.rpc adds besides is for machines or for those who run the service.
  const general = '@type' in entry ? undefined : under(names.message, entry).find(isText);
  return general === undefined ? [] : [{ path: at, message: general }];
}

/** The faults by field, or in a list that is wrapped once more. */
function faultsOfMap(map: Record<string, unknown>, at: string): RefusedField[] {
  const lists = under(names.faults, map).filter((value) => Array.isArray(value) && value.some(isObject));
  if (lists.length > 0) return lists.flatMap((list) => faultsIn(list, at));
  return Object.entries(map).flatMap(([key, value]) => {
    const path = joined(at, dotted(key));
    if (path === '') return [];
    return faultsIn(isObject(value) && isText(value.message) ? value.message : value, path);
  });
}

const verbs = 'must|should|is|are|was|has|have|can|cannot|may|does|needs|contains|exceeds|each';
const sentence = new RegExp(
  `^(body(?:/\\w+)+|[a-z]\\w*(?:[.[]\\w+\\]?)+|[a-z]\\w*(?= (?:${verbs})\\b)) (.+)$`,
  's',
);

/** "recipient.location must be a string": where the first word looks like a path, the rest is what is wrong there. */
function faultOfSentence(text: string): RefusedField {
  // What NestJS says of lists: "recipient.address.each value in addressLines must be a string".
  const plainText = text.replace(/^((?:\w+\.)*)each value in (\w+) /, '$1$2 each ');
  const [, path, message] = sentence.exec(plainText) ?? [];
  return path === undefined || message === undefined
    ? { path: '', message: text }
    : { path: dotted(path) ?? path, message };
}

/** A list that comes as a text: ZodError's message is the JSON of its issues, Fastify's has a sentence for each fault. */
function unpacked(value: unknown): unknown {
  if (!isText(value)) return value;
  if (value.startsWith('body/')) return value.split(/, (?=body[/ ])/);
  const json = value.startsWith('[') ? parsed(value) : undefined;
  return Array.isArray(json) ? json : value;
}

/** `['recipient', 'address']` and the JSON pointers `/recipient/address` and `#/recipient/address` as `recipient.address`. */
function dotted(path: unknown): string | undefined {
  if (Array.isArray(path)) return path.map((part) => (isObject(part) ? part.key : part)).join('.');
  if (isObject(path)) return dotted(path.pointer ?? path.parameter);
  return isText(path) ? path.replace(/^(#?\/|\$\.)/, '').replaceAll('/', '.') : undefined;
}

function joined(...paths: (string | undefined)[]): string {
  return paths.filter(isText).join('.');
}

/** A text, or several as one. */
function wording(value: unknown): string | undefined {
  if (isText(value)) return value;
  const texts = isObject(value) || Array.isArray(value) ? Object.values(value).filter(isText) : [];
  return texts.length === 0 ? undefined : texts.join('; ');
}

/** What an object has under each of these names. */
function under(wanted: readonly string[], object: Record<string, unknown>): unknown[] {
  const values = new Map(Object.entries(object).map(([name, value]) => [plain(name), value]));
  return wanted.map((name) => values.get(plain(name)));
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON, so nothing in it is known to be meant for a client.
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
