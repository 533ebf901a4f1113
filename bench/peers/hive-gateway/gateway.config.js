import { defineConfig } from '@graphql-hive/gateway';

// https://the-guild.dev/graphql/hive/docs/api-reference/gateway-config: the links between records, by the SDK in the
// context. The list of origins is read once for all keys of a batch.

const idOf = (name) => name.slice(name.indexOf('/') + 1);

export const gatewayConfig = defineConfig({
  supergraph: './supergraph.graphql',
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  logging: false,
  jit: true,
  transportEntries: { Rest: { location: process.env.UPSTREAM_URL } },
  additionalResolvers: {
    Order: {
      shipmentRecord: {
        selectionSet: '{ shipment }',
        resolve: (root, _args, context, info) =>
          root.shipment &&
          context.Rest.Query.getShipment({ root, args: { id: idOf(root.shipment) }, context, info }),
      },
    },
    Shipment: {
      quoteRecord: {
        selectionSet: '{ quote }',
        resolve: (root, _args, context, info) =>
          root.quote && context.Rest.Query.getQuote({ root, args: { id: idOf(root.quote) }, context, info }),
      },
      originRecord: {
        selectionSet: '{ origin }',
        resolve: (root, _args, context, info) =>
          root.origin &&
          context.Rest.Query.listOrigins({
            root,
            key: root.origin,
            argsFromKeys: () => ({ pageSize: 1000 }),
            selectionSet: (fields) => ({
              kind: 'SelectionSet',
              selections: [
                {
                  kind: 'Field',
                  name: { kind: 'Name', value: 'origins' },
                  selectionSet: {
                    kind: 'SelectionSet',
                    selections: [
                      { kind: 'Field', name: { kind: 'Name', value: 'name' } },
                      ...fields.selections,
                    ],
                  },
                },
              ],
            }),
            valuesFromResults: ({ origins }, keys) =>
              keys.map((key) => origins.find(({ name }) => name === key) ?? null),
            context,
            info,
          }),
      },
    },
  },
});
