import { orderIds } from '../records.ts';

/** A question to every server. */
export interface Workload {
  /** The heading of its tables. */
  title: string;
  document: string;
  /** The variables of the requests, in turn. */
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

/** The bodies of the requests. @param ownDocument the server's own document, if it has one. */
export function bodiesOf(workload: WorkloadName, ownDocument?: string): string[] {
  const { document, variables } = workloads[workload];
  // Clients send a document in one line.
  const query = (ownDocument ?? document).replace(/\s+/g, ' ');
  return variables.map((values) => JSON.stringify({ query, variables: values }));
}
