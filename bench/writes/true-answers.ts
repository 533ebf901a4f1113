import type { Answer, Write } from './six-writes.ts';
import type { Sender } from './troubled-rest.ts';

/** The requests of one key, or one request without a key, and what came of them. */
export interface KeyedWrite extends Sender {
  write: Write;
  hasKey: boolean;
  tokens: string[];
  answers: TimedAnswer[];
}

export interface TimedAnswer extends Answer {
  startedAtMs: number;
  endedAtMs: number;
}

/** What one user wants, such as one shipment of one order. Several keys may ask for it. */
export interface Wish {
  marker: string;
  write: Write;
  /** The order, or else the quote, of which there may be one shipment. Undefined for other writes. */
  shippedOnce: string | undefined;
  keys: KeyedWrite[];
  /** The requests of clients, and the calls of REST, in the order of time. */
  history: string[];
}

/** A broken promise. */
export interface Fault {
  /** What is wrong, such as `createOrder: 2 writes with one key`. */
  kind: string;
  history: readonly string[];
}

/** The names of orders, quotes, shipments and messages in a text. */
const nameForm = /(?:orders|quotes|shipments)\/[\w-]+|channels\/\w+\/conversations\/\w+\/messages\/\w+/g;
/** The errors after which the write may be done if they are not retryable (docs/errors.md, "Retry"). */
const unclearCodes: readonly string[] = [
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_ERROR',
  'UPSTREAM_INVALID_RESPONSE',
];
/** The last part of the path of the POST that a mutation is about. */
const kinds: Record<string, string> = {
  createOrder: 'orders',
  createQuote: 'quotes',
  createShipment: 'shipments',
  sendMessage: 'messages',
  sendMessageToPhone: 'messages',
  shipOrder: 'shipments',
};

/**
 * Returns the broken promises of a run. REST may do one write for each key and for each request without a key, and one
 * shipment of each order or quote. Each answer is the one true result, or `OutcomeUnknown`, or an error where REST has
 * done nothing. No answer has the name of another record.
 * @param orderOf returns the order of a quote
 */
export async function faultsOf(
  wishes: readonly Wish[],
  orderOf: (quote: string) => Promise<string | undefined>,
): Promise<Fault[]> {
  const posts = wishes.flatMap(({ keys }) => keys.flatMap((key) => key.posts));
  const shipments = await Promise.all(
    posts
      .filter(({ kind, names }) => kind === 'shipments' && names.length > 0)
      .map(async ({ quote = '', names }) => ({ name: names.join(), quote, order: await orderOf(quote) })),
  );
  return wishes.flatMap((wish) => {
    const { shippedOnce, history } = wish;
    const kindsOfWish: string[] = [];
    const own =
      shippedOnce === undefined
        ? []
        : shipments.filter(({ order, quote }) => order === shippedOnce || quote === shippedOnce);
    if (own.length > 1) kindsOfWish.push(`${own.length} shipments of one order or quote`);
    for (const key of wish.keys) {
      const doneTimes = writesOf(key).length;
      if (doneTimes > 1) kindsOfWish.push(`${doneTimes} writes with one key`);
      const names = writesOf(key).flatMap((post) => post.names);
      const isForeign =
        shippedOnce !== undefined && !names.every((name) => own.some((row) => row.name === name));
      if (isForeign) kindsOfWish.push('a shipment of another order or quote');
      const shown = new Set(key.answers.filter(isSuccess).flatMap((answer) => createdIn(answer, key)));
      if (shown.size > 1) kindsOfWish.push('two results of one key');
      kindsOfWish.push(...key.answers.flatMap((answer) => faultsOfAnswer(wish, key, answer, own.length)));
    }
    return [...new Set(kindsOfWish)].map((kind) => ({ kind: `${wish.write.mutation}: ${kind}`, history }));
  });
}

function faultsOfAnswer(wish: Wish, key: KeyedWrite, answer: TimedAnswer, shipped: number): string[] {
  const { result, conflictReason, isRetryable, text, startedAtMs, endedAtMs } = answer;
  const found: string[] = [];
  const inputs = wish.keys.map(({ write }) => JSON.stringify(write.input)).join();
  const ofWish = wish.keys.flatMap(({ posts }) => posts.flatMap(({ names }) => names));
  const allowed = new Set([...ofWish, ...(inputs.match(nameForm) ?? [])]);
  const foreign = (text.match(nameForm) ?? []).filter((name) => !allowed.has(name));
  if (foreign.length > 0) found.push(`${result} shows the name of another record`);
  const markers = text.match(/\bw\d+-\d+-|\bother-\d/g) ?? [];
  if (markers.some((marker) => marker !== wish.marker))
    found.push(`${result} shows the data of another record`);
  const done = writesOf(key).filter(({ doneAtMs = Number.POSITIVE_INFINITY }) => doneAtMs < endedAtMs);
  if (isSuccess(answer)) {
    const ownNames = done.flatMap(({ names }) => names);
    const others = createdIn(answer, key).filter((name) => !ownNames.includes(name));
    const isOfOtherKey = others.some((name) => ofWish.includes(name));
    // REST refuses a second order with a reference. Of two requests with equal orders, both may get the one order.
    const isSameOrder = isOfOtherKey && 'referenceId' in key.write.input;
    if (isOfOtherKey && !isSameOrder) found.push('a success with the record of another key');
    if (done.length === 0 && !isSameOrder) found.push('a success, but REST has done nothing for this key');
    return found;
  }
  if (conflictReason === 'ALREADY_SHIPPED' && shipped === 0)
    found.push('ALREADY_SHIPPED, but nothing is shipped');
  if (/^(OutcomeUnknown|no response)$/.test(result) || done.length === 0) return found;
  // A retryable error says that this request did nothing. It says nothing of earlier requests with the key.
  const isOfThisRequest = done.some(({ doneAtMs = 0 }) => doneAtMs > startedAtMs);
  const isTrue = isRetryable ? !isOfThisRequest : unclearCodes.includes(result);
  if (!isTrue) found.push(`${result}, but REST has done the write`);
  return found;
}

/** The POSTs of the kind that the mutation is about, which REST has done. */
function writesOf({ write, posts }: KeyedWrite) {
  return posts.filter(({ kind, names }) => kind === kinds[write.mutation] && names.length > 0);
}

/** The names in a success of the records that the mutation creates. */
export function createdIn({ text }: Pick<Answer, 'text'>, { write }: Pick<KeyedWrite, 'write'>): string[] {
  const kind = `${kinds[write.mutation]}/`;
  return (text.match(nameForm) ?? []).filter((name) => name.includes(kind));
}

function isSuccess({ result }: TimedAnswer): boolean {
  return result.endsWith('Success');
}
