import { isResourceName } from '../../rest/resource-name.ts';
import { builder } from '../builder.ts';
import { checkName } from '../fields/related-record.ts';
import { Node, registerNode } from '../relay/node.ts';

export const Courier = builder.objectRef<{ name: string }>('Courier').implement({
  description:
    "A company that carries packages. The REST service exposes only the courier's id. A courier costs no call, because Waybill " +
    'does not check that the courier exists.',
  interfaces: [Node],
  fields: (t) => ({
    code: t.string({
      description: 'The part of the id after `couriers/`.',
      resolve: ({ name }) => name.slice('couriers/'.length),
    }),
  }),
});

registerNode({
  typename: 'Courier',
  owns: (id) => isResourceName('couriers', id),
  load: async (name) => ({ name }),
});

/** The source of `Courier` for a name from a REST payload. @throws InvalidResponseError if it is not the name of a courier */
export function courierNamed(name: string): { name: string } {
  checkName('couriers', name);
  return { name };
}
