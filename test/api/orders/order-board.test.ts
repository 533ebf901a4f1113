import { describe, expect, test } from 'vitest';
import { OrderBoardDocument } from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

interface RestOrder {
  name: string;
  status: string;
  recipient: { firstName: string; lastName: string; location: string };
  shipment?: string;
}

interface RestShipment {
  name: string;
  status: string;
  totalCostCents: number;
  origin: string;
  label?: string;
  labelUrl?: string;
}

interface RestLocation {
  name: string;
  address: { locality: string };
}

/** What the sandbox itself answers, past the server. */
async function rest<Json>({ sandbox }: Waybill, path: string): Promise<Json> {
  const headers = { authorization: `Bearer ${sandbox.tokens.first}` };
  const response = await fetch(`${sandbox.url}${path}`, { headers });
  expect(response.status, path).toBe(200);
  // What the tests ask for is what the interface describes.
  return (await response.json()) as Json;
}

/** Whole pesos, which is all that the costs of the sandbox are. */
function pesos(cents: number): string {
  return `$\u00a0${String(cents / 100).replace(/\B(?=(\d{3})+$)/g, '.')}`;
}

function isPresent<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

const callsUnderWay = ({ sandbox }: Waybill) =>
  sandbox.requests.entries().filter(({ status }) => status === undefined).length;

/** The most calls that were under way at once while `work` was. */
async function mostCallsAtOnce(waybill: Waybill, work: Promise<unknown>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, callsUnderWay(waybill));
  }, 1);
  await work;
  clearInterval(timer);
  return most;
}

describe('the order board of 100 orders', () => {
  test('returns the data of the REST service with five calls', async () => {
    await using waybill = await startWaybill();
    const { orders } = await rest<{ orders: RestOrder[] }>(waybill, '/v1/orders?pageSize=100');
    const shipments = new Map<string, RestShipment>();
    for (const name of new Set(orders.map(({ shipment }) => shipment).filter(isPresent))) {
      shipments.set(name, await rest<RestShipment>(waybill, `/v1/${name}`));
    }
    const localities = new Map<string, string>();
    for (const name of new Set(orders.map(({ recipient }) => recipient.location))) {
      const { locations } = await rest<{ locations: RestLocation[] }>(waybill, `/v1/locations?query=${name}`);
      const locality = locations.find((location) => location.name === name)?.address.locality;
      if (locality !== undefined) localities.set(name, locality);
    }

    const { status, data, errors, calls } = await waybill.ask(OrderBoardDocument, { first: 100 });
    expect([status, errors]).toEqual([200, undefined]);
    expect(data.orders.nodes).toEqual(
      orders.map(({ name, status, recipient, shipment }) => {
        const shipped = shipment === undefined ? undefined : shipments.get(shipment);
        return {
          id: name,
          status,
          recipient: {
            fullName: `${recipient.firstName} ${recipient.lastName}`,
            location: { locality: localities.get(recipient.location) },
          },
          shipment: shipped
            ? {
                status: shipped.status,
                totalCost: { formatted: pesos(shipped.totalCostCents) },
                origin: { id: shipped.origin },
                label:
                  shipped.label === undefined
                    ? null
                    : {
                        url: shipped.labelUrl,
                        pdfUrl: shipped.name
                          .replace('shipments/', 'http://waybill.test/labels/')
                          .concat('.pdf'),
                      },
              }
            : null,
        };
      }),
    );
    expect(calls[0]).toBe('GET /v1/orders?pageSize=100');
    expect(calls.slice(1).sort()).toEqual([
      'GET /v1/locations?pageSize=1000',
      expect.stringMatching(/^GET \/v1\/locations\?pageSize=1000&pageToken=[\w-]+$/),
      // One of the rows is held against its get at first.
      'GET /v1/shipments/ca2010',
      'GET /v1/shipments?pageSize=150',
    ]);
    expect([orders.length, shipments.size, localities.size]).toEqual([100, 75, 62]);
  });

  test.each([
    ['64 by default', {}, 64],
    ['UPSTREAM_CONNECTIONS', { UPSTREAM_CONNECTIONS: '3' }, 3],
  ])('limits concurrent REST calls to %s', async (_what, environment, most) => {
    await using waybill = await startWaybill({ UPSTREAM_LISTS_FOR_BATCHES: 'no', ...environment });
    // A token that REST has not accepted leaves a quarter of the connections to others.
    await waybill.ask('{ organization { id } }');
    // No call after the orders ends before the most are under way.
    const remove = waybill.sandbox.faults.add({ kind: 'delay', delayMs: 3_000, path: /^\/v1\/(?!orders)/ });
    const answer = waybill.ask(OrderBoardDocument, { first: 100 });
    const mostAtOnce = mostCallsAtOnce(waybill, answer);
    await expect.poll(() => callsUnderWay(waybill), { interval: 1 }).toBe(most);
    remove();
    expect(await mostAtOnce).toBe(most);
    const { errors, calls } = await answer;
    expect(errors).toBeUndefined();
    expect(calls.length).toBeGreaterThan(most);
  });
});
