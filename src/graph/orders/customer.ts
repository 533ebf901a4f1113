import type { CustomerBehaviorJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { openEnum } from '../fields/open-enum.ts';

export const customerReliability = openEnum(
  'CustomerReliability',
  'The reliability of a customer in accepting packages, based on earlier shipments.',
  {
    RELIABLE: 'The customer usually accepts packages.',
    MODERATE: 'The customer returns some packages.',
    UNRELIABLE: 'The customer returns many packages.',
    NO_ORDERS: 'The customer has no earlier orders.',
  },
);

export const CustomerBehavior = builder.objectRef<CustomerBehaviorJson>('CustomerBehavior').implement({
  description: "The outcomes of a customer's earlier shipments.",
  fields: (t) => ({
    totalShipments: t.exposeInt('totalShipments', { description: 'The number of all shipments.' }),
    deliveredShipments: t.exposeInt('deliveredShipments', {
      description: 'The number of delivered shipments.',
    }),
    returnedShipments: t.exposeInt('returnedShipments', {
      description: 'The number of shipments that were sent back.',
    }),
    reliability: t.field(
      customerReliability.field(
        'The reliability of the customer, based on these numbers.',
        ({ reliability }) => reliability,
      ),
    ),
  }),
});
