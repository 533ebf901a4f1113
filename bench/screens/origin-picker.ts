import type { LocationJson, OriginJson } from '../../src/rest/types.ts';
import { byName } from '../rest.ts';
import type { Screen } from '../screen.ts';

/** Where a package can be collected, to choose from. */
export const originPicker: Screen = {
  name: 'origin picker',
  query: `
    query OriginPicker {
      origins(first: 100) {
        nodes { id address { addressLines } location { administrativeArea locality } }
      }
    }
  `,
  async byRest(rest) {
    // Two pages of locations, where a search for each origin's would be one call more or several.
    const [origins, locations] = await Promise.all([
      rest.page<OriginJson>('/v1/origins', { pageSize: 100 }),
      rest.all<LocationJson>('/v1/locations'),
    ]);
    const locationNamed = byName(locations);
    const nodes = origins.map(({ name, address, location }) => {
      const { administrativeArea, locality } = locationNamed(location ?? '').address;
      return {
        id: name,
        address: address && { addressLines: address.addressLines },
        location: { administrativeArea, locality },
      };
    });
    return { origins: { nodes } };
  },
};
