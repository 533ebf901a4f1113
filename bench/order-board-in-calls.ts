import { type MeasureOptions, measure } from './measure.ts';
import type { Rest } from './rest.ts';
import { orderBoard } from './screens/order-board.ts';
import { shownMs } from './table.ts';
import type { Waybill } from './ways.ts';

/**
 * How long the order board takes, in calls that have to wait for each other: a page of orders, and then one of the
 * shipments that these name, which is two; where the shipments are asked for ahead, it is one.
 */
export async function orderBoardInCalls(at: MeasureOptions, waybill: Waybill, rest: Rest): Promise<string> {
  const page = (path: string) => rest.page(path, { pageSize: 100 });
  const orders = await measure(at, async () => () => page('/v1/orders'));
  const shipments = await measure(at, async () => () => page('/v1/shipments'));
  const atOnce = await measure(at, async () => () => Promise.all(['/v1/orders', '/v1/shipments'].map(page)));
  const one = Math.max(orders.ms, shipments.ms);
  const two = orders.ms + shipments.ms;

  const costs = {
    cold: await measure(at, waybill.cold(orderBoard)),
    'warm, `UPSTREAM_AHEAD_OF_ASK=no`': await measure(
      at,
      waybill.steady({ UPSTREAM_AHEAD_OF_ASK: 'no' })(orderBoard),
    ),
    warm: await measure(at, waybill.steady()(orderBoard)),
  };
  return [
    `A page of 100 orders takes ${shownMs(orders.ms)} ms and one of 100 shipments ${shownMs(shipments.ms)} ms: two calls in turn`,
    `are ${shownMs(two)} ms, and one is ${shownMs(one)} ms. Both at once take ${shownMs(atOnce.ms)} ms.`,
    '',
    '| order board | ms | times two calls | times one call | times both at once |',
    '| --- | --: | --: | --: | --: |',
    ...Object.entries(costs).map(([name, { ms }]) => {
      const times = [two, one, atOnce.ms].map((unit) => (ms / unit).toFixed(2));
      return `| ${[name, shownMs(ms), ...times].join(' | ')} |`;
    }),
  ].join('\n');
}
