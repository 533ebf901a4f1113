import type { AddressJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';

export const Address = builder.objectRef<AddressJson>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    regionCode: t.exposeString('regionCode', {
      description: 'The country, as an ISO 3166-1 alpha-2 code such as `CO`.',
    }),
    administrativeArea: t.exposeString('administrativeArea', {
      description: 'The state, province or department.',
    }),
    locality: t.exposeString('locality', { description: 'The city or municipality.' }),
    addressLines: t.exposeStringList('addressLines', {
      description: 'The street address, usually two lines.',
    }),
    organization: t.exposeString('organization', {
      description: 'The company or building at the address. Can be empty.',
    }),
  }),
});
