import { InvalidResponseError } from '../../rest/errors.ts';
import { isResourceName } from '../../rest/resource-name.ts';
import type { OrganizationJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { Money, money } from '../fields/money.ts';
import { Node, registerNode } from '../relay/node.ts';

export const Organization = builder.objectRef<OrganizationJson>('Organization').implement({
  description: "The merchant's account with the REST service.",
  interfaces: [Node],
  fields: (t) => ({
    balance: t.field({
      type: Money,
      description: 'The balance of the account. Negative if the merchant owes money.',
      resolve: (organization, _args, { currency }) => money(organization.balanceCents, currency),
    }),
    creditLimit: t.field({
      type: Money,
      description: 'The maximum amount that the merchant may owe.',
      resolve: (organization, _args, { currency }) => money(organization.creditLimitCents, currency),
    }),
    isCreditUser: t.boolean({ description: 'Whether the balance is negative.', resolve: isCreditUser }),
  }),
});

/** @throws InvalidResponseError if the balance is no whole number: the comparison would treat it as not negative. */
function isCreditUser({ balanceCents }: OrganizationJson): boolean {
  if (Number.isSafeInteger(balanceCents)) return balanceCents < 0;
  throw new InvalidResponseError('The REST service sent a balance that is not a whole number of cents');
}

registerNode({
  typename: 'Organization',
  owns: (id) => isResourceName('organization', id),
  load: async (id, { organization }) => {
    const mine = await organization.load('mine');
    return mine?.name === id ? mine : null;
  },
});

builder.queryField('organization', (t) =>
  t.field({
    type: Organization,
    nullable: true,
    description: 'The organization of the access token. Costs `GET /v1/organizations/mine`.',
    resolve: (_root, _args, { loaders }) => loaders.organization.load('mine'),
  }),
);
