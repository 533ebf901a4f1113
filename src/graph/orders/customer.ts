import type { CustomerBehaviorJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { openEnum } from '../fields/open-enum.ts';

export const customerReliability = openEnum(
  'CustomerReliability',
  'How far a customer can be relied on to accept a package, judged by their earlier shipments.',
  {
    RELIABLE: 'Accepts packages as a rule.',
    MODERATE: 'Sends some packages back.',
    UNRELIABLE: 'Sends many packages back.',
    NO_ORDERS: 'No earlier orders to judge by.',
  },
);

export const CustomerBehavior = builder.objectRef<CustomerBehaviorJson>('CustomerBehavior').implement({
  description: "What became of a customer's shipments so far.",
  fields: (t) => ({
    totalShipments: t.exposeInt('totalShipments', { description: 'Shipments in all.' }),
    deliveredShipments: t.exposeInt('deliveredShipments', { description: 'Of these, delivered.' }),
    returnedShipments: t.exposeInt('returnedShipments', { description: 'Of these, returned.' }),
    reliability: t.field({
      type: customerReliability.ref,
      description: 'The judgement that follows from these numbers.',
      resolve: (behavior) => customerReliability.recognize(behavior.reliability),
    }),
  }),
});
