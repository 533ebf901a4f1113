import { orderIds } from '../records.ts';

/** What is asked of every server. */
export interface Workload {
  /** For people, in the table's heading. */
  title: string;
  document: string;
  /** The variables of one request after the other, over and over. */
  variables: readonly Record<string, string>[];
}

const money = '{ cents currency }';

export const workloads = {
  order: {
    title: 'One order by id, a thousand ids in turn',
    document: `query Order($id: ID!) { order(id: $id) {
      id status createTime updateTime contentDescription notes referenceId fulfiller customerReliability
      sellingPrice ${money} cashOnDelivery ${money} paymentMethods
      recipient { firstName lastName phoneNumber address { locality addressLines } }
    } }`,
    variables: orderIds.map((id) => ({ id })),
  },
  shipments: {
    title: '100 orders with shipment and label',
    document: `query Shipments { orders(first: 100) { nodes {
      id status createTime contentDescription sellingPrice ${money}
      recipient { firstName lastName address { locality } }
      shipment { id status courier { id } totalCost ${money} label { id url } }
    } } }`,
    variables: [{}],
  },
  deep: {
    title: '50 orders four levels deep: shipment, quote and offers, origin',
    document: `query Deep { orders(first: 50) { nodes {
      id status
      shipment {
        id status label { id url }
        origin { id address { locality addressLines } }
        quote { id offers {
          courier { id } status shipmentCost ${money} estimatedDeliveryOperatingDays
        } }
      }
    } } }`,
    variables: [{}],
  },
  typename: { title: '`{ __typename }`', document: '{ __typename }', variables: [{}] },
} satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

/** The bodies of requests, as every client of GraphQL sends them, with a document of the server's own where it has one. */
export function bodiesOf(workload: WorkloadName, ownDocument?: string): string[] {
  const { document, variables } = workloads[workload];
  // One line, as clients send it.
  const query = (ownDocument ?? document).replace(/\s+/g, ' ');
  return variables.map((values) => JSON.stringify({ query, variables: values }));
}
