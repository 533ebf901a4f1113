import { defineConfig } from '@graphql-mesh/compose-cli';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

// `npm run compose` makes supergraph.graphql from openapi.json, a copy of the sandbox's /openapi.json. The links
// between records are additions, because names of records are plain texts in OpenAPI:
// https://the-guild.dev/graphql/mesh/v1

export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadOpenAPISubgraph('Rest', {
        source: './openapi.json',
        endpoint: 'http://rest.example',
        operationHeaders: { authorization: '{context.headers.authorization}' },
        ignoreErrorResponses: true,
      }),
    },
  ],
  additionalTypeDefs: /* GraphQL */ `
    extend type Order {
      shipmentRecord: Shipment
    }
    extend type Shipment {
      quoteRecord: Quote
      originRecord: Origin
    }
  `,
});
