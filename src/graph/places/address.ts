import type { AddressJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';

export const Address = builder.objectRef<AddressJson>('Address').implement({
  description: 'A postal address.',
  fields: (t) => ({
    regionCode: t.exposeString('regionCode', {
      description: 'The country as an ISO 3166-1 code, such as `CO`.',
    }),
    administrativeArea: t.exposeString('administrativeArea', { description: 'The state or department.' }),
    locality: t.exposeString('locality', { description: 'The city or municipality.' }),
    addressLines: t.exposeStringList('addressLines', { description: 'The street address, often two lines.' }),
    organization: t.exposeString('organization', { description: 'The company or building. Can be empty.' }),
  }),
});
