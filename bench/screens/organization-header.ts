import type { OrganizationJson } from '../../src/rest/types.ts';
import type { Screen } from '../screen.ts';

/** What is on the account; one call, however it is asked for. */
export const organizationHeader: Screen = {
  name: 'organization header',
  query: `
    query OrganizationHeader {
      organization { id balance { cents } creditLimit { cents } isCreditUser }
    }
  `,
  async byRest(rest) {
    const { name, balanceCents, creditLimitCents } =
      await rest.record<OrganizationJson>('organizations/mine');
    return {
      organization: {
        id: name,
        balance: { cents: balanceCents },
        creditLimit: { cents: creditLimitCents },
        isCreditUser: balanceCents < 0,
      },
    };
  },
};
