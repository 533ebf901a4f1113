import { once } from 'node:events';
import { join } from 'node:path';
import { loadCore, startNode } from '../server-process.ts';

/** The orders of a board. Each has a shipment. */
export const boardSize = 20;

/** The start of the tokens. A number follows. */
export const tokenStart = 'board-';

/** A time that processes of one machine share, in milliseconds. */
export const now = (): number => performance.timeOrigin + performance.now();

/** What the REST service does from now on. What is undefined stays. */
export interface RestOrder {
  isAway?: boolean;
  isChanging?: boolean;
}

/** The record at this place of a board has the number of the change from this time on. The first change is 1. */
export interface Change {
  record: number;
  atMs: number;
}

/** What the service has seen. */
export interface RestSeen {
  /** Since the last order. */
  calls: { token: string; path: string; atMs: number }[];
  /** All changes of each token's board. */
  changes: Record<string, Change[]>;
}

/** The REST service of the boards, in a process of its own. */
export interface BoardRest {
  url: string;
  order(order: RestOrder): Promise<RestSeen>;
  close(): void;
}

/** Starts the REST service of the boards. */
export async function startBoardRest(): Promise<BoardRest> {
  const child = startNode([join(import.meta.dirname, 'rest-process.ts')], {
    core: loadCore,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The program sends its address first, and then what it has seen for each order.
  const url = (await once(child, 'message'))[0] as string;
  return {
    url,
    async order(order) {
      child.send(order);
      return (await once(child, 'message'))[0] as RestSeen;
    },
    close: () => child.disconnect(),
  };
}

const boardFields = `orders(first: ${boardSize}) { nodes { id notes shipment { id totalCost { cents } } } }`;
export const boardQuery = `{ ${boardFields} }`;
export const boardSubscription = `subscription Board { ${boardFields} }`;

interface BoardData {
  orders: { nodes: { notes: string; shipment: { totalCost: { cents: number } } }[] } | null;
}

/**
 * The values of the orders and of the shipments in an event.
 * @param json the response of GraphQL
 * @returns undefined for an event with errors
 * @throws Error for a value of another token
 */
export function valuesOf(json: string, token: string): number[] | undefined {
  // The query has this data, or errors.
  const { data, errors } = JSON.parse(json) as { data: BoardData | null; errors?: unknown };
  if (errors !== undefined || !data?.orders) return undefined;
  const mark = Number(token.slice(tokenStart.length)) * 1_000_000;
  const { nodes } = data.orders;
  const orders = nodes.map(({ notes }) => {
    if (!notes.startsWith(`${token} `)) throw new Error(`${token} got the order "${notes}"`);
    return Number(notes.slice(token.length + 1));
  });
  const shipments = nodes.map(({ shipment: { totalCost } }) => totalCost.cents - mark);
  const foreign = shipments.find((value) => value < 0 || value >= 1_000_000);
  if (foreign !== undefined) throw new Error(`${token} got the shipment of another token: ${foreign + mark}`);
  return [...orders, ...shipments];
}
