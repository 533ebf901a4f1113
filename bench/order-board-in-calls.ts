import { type MeasureOptions, measure } from './measure.ts';
import type { Rest } from './rest.ts';
import { orderBoard } from './screens/order-board.ts';
import { shownMs } from './table.ts';
import type { Waybill } from './ways.ts';

/**
 * How long the order board takes, measured in the calls that have to wait for each other: a page of orders, and then the
 * shipments that these name. Together they are two calls; where the shipments are asked for ahead, one.
 */
export async function orderBoardInCalls(at: MeasureOptions, waybill: Waybill, rest: Rest): Promise<string> {
  const page = (path: string) => async () => () => rest.page(path, { pageSize: 100 });
  const orders = await measure(at, page('/v1/orders'));
  const shipments = await measure(at, page('/v1/shipments'));
  const one = Math.max(orders.ms, shipments.ms);
  const two = orders.ms + shipments.ms;

  const cold = await measure(at, waybill.cold(orderBoard));
  const inTurn = await measure(at, waybill.steady({ UPSTREAM_AHEAD_OF_ASK: 'no' })(orderBoard));
  const ahead = await measure(at, waybill.steady()(orderBoard));
  return [
    `A page of 100 orders takes ${shownMs(orders.ms)} ms and one of 100 shipments ${shownMs(shipments.ms)} ms, so that two`,
    `calls in turn take ${shownMs(two)} ms and two at once ${shownMs(one)} ms.`,
    '',
    '| order board | ms | times two calls in turn | times two calls at once |',
    '| --- | --: | --: | --: |',
    ...Object.entries({ cold, 'warm, without asking ahead': inTurn, warm: ahead }).map(
      ([name, { ms }]) =>
        `| ${name} | ${shownMs(ms)} | ${(ms / two).toFixed(2)} | ${(ms / one).toFixed(2)} |`,
    ),
  ].join('\n');
}
