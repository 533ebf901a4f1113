import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The texts of the desk that the tries look for, in one language. */
export interface Texts {
  language: string;
  title: string;
  otherLanguage: string;
  close: string;
  board: {
    noShipment: string;
    stuck: string;
    anyShipment: string;
    search: string;
    refresh: string;
    toActions: string;
    rowNotKnown: string;
    empty: string;
    again: string;
    more: string;
    clear: string;
    count(rows: number, hasMore: boolean): string;
    notKnown(count: number): string;
    failing(since: string): string;
    printedAt(at: string): string;
    selected(count: number): string;
  };
  ship: {
    title: string;
    showOffers: string;
    result: string;
    ceiling: string;
    submit(count: number): string;
    retry(count: number): string;
    done(courier: string, cost: string): string;
    sum(done: number, all: number, cost: string, unknown?: number): string;
    balance(balance: string, left: string): string;
  };
  print: {
    title: string;
    layout: string;
    summary: string;
    outcomes: { FAILED: string; NOT_READY: string };
    toPrint(count: number): string;
    without(count: number): string;
    reprint(count: number): string;
    submit(count: number): string;
    open(labels: number, pages: number): string;
    missing(count: number): string;
  };
  import: {
    title: string;
    file: string;
    created: string;
    noCity: string;
    wrongAmount(column: string): string;
    rows(count: number): string;
    submit(count: number): string;
    sum(done: number, faulty: number): string;
  };
  message: {
    title: string;
    template: string;
    sent: string;
    unknown: string;
    missing: string;
    again(count: number): string;
    submit(count: number): string;
    retry(count: number): string;
    sum(done: number, all: number): string;
  };
  trouble: Record<'label' | 'none' | 'third' | 'down' | 'slow', string>;
  unknownCost: string;
  strip: { text(calls: number, restClient: number): string };
  noOffer: { ABOVE_LIMIT: string };
  orderStatus: { NEW: string };
}

const desk = join(import.meta.dirname, '../../../examples/order-desk/src');

/** Reads them from the desk, whose packages are installed after the types are checked. */
export async function textsOf(language: 'es' | 'en'): Promise<Texts> {
  const { texts }: { texts: Record<'es' | 'en', Texts> } = await import(
    pathToFileURL(join(desk, 'texts.ts')).href
  );
  return texts[language];
}
