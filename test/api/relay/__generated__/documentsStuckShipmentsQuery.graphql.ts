/**
 * @generated SignedSource<<0da67215833c4019d3e1c07a02ef98d8>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type documentsStuckShipmentsQuery$variables = {
  after?: string | null | undefined;
};
export type documentsStuckShipmentsQuery$data = {
  readonly shipments: {
    readonly edges: ReadonlyArray<{
      readonly node: {
        readonly id: string;
      } | null | undefined;
    }>;
    readonly pageInfo: {
      readonly endCursor: string | null | undefined;
      readonly hasNextPage: boolean;
    };
  } | null | undefined;
};
export type documentsStuckShipmentsQuery = {
  response: documentsStuckShipmentsQuery$data;
  variables: documentsStuckShipmentsQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "after"
  }
],
v1 = {
  "kind": "Literal",
  "name": "status",
  "value": [
    "WITH_ERROR"
  ]
},
v2 = [
  {
    "alias": null,
    "args": null,
    "concreteType": "ShipmentEdge",
    "kind": "LinkedField",
    "name": "edges",
    "plural": true,
    "selections": [
      {
        "alias": null,
        "args": null,
        "concreteType": "Shipment",
        "kind": "LinkedField",
        "name": "node",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "__typename",
            "storageKey": null
          }
        ],
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "cursor",
        "storageKey": null
      }
    ],
    "storageKey": null
  },
  {
    "alias": null,
    "args": null,
    "concreteType": "PageInfo",
    "kind": "LinkedField",
    "name": "pageInfo",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "hasNextPage",
        "storageKey": null
      },
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "endCursor",
        "storageKey": null
      }
    ],
    "storageKey": null
  }
],
v3 = [
  {
    "kind": "Variable",
    "name": "after",
    "variableName": "after"
  },
  {
    "kind": "Literal",
    "name": "first",
    "value": 5
  },
  (v1/*:: as any*/)
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsStuckShipmentsQuery",
    "selections": [
      {
        "alias": "shipments",
        "args": [
          (v1/*:: as any*/)
        ],
        "concreteType": "ShipmentConnection",
        "kind": "LinkedField",
        "name": "__stuck_shipments_connection",
        "plural": false,
        "selections": (v2/*:: as any*/),
        "storageKey": "__stuck_shipments_connection(status:[\"WITH_ERROR\"])"
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsStuckShipmentsQuery",
    "selections": [
      {
        "alias": null,
        "args": (v3/*:: as any*/),
        "concreteType": "ShipmentConnection",
        "kind": "LinkedField",
        "name": "shipments",
        "plural": false,
        "selections": (v2/*:: as any*/),
        "storageKey": null
      },
      {
        "alias": null,
        "args": (v3/*:: as any*/),
        "filters": [
          "status"
        ],
        "handle": "connection",
        "key": "stuck_shipments",
        "kind": "LinkedHandle",
        "name": "shipments"
      }
    ]
  },
  "params": {
    "cacheID": "8d49c82e3bf946b28f78fc53fe02beba",
    "id": null,
    "metadata": {
      "connection": [
        {
          "count": null,
          "cursor": "after",
          "direction": "forward",
          "path": [
            "shipments"
          ]
        }
      ]
    },
    "name": "documentsStuckShipmentsQuery",
    "operationKind": "query",
    "text": "query documentsStuckShipmentsQuery(\n  $after: String\n) {\n  shipments(first: 5, after: $after, status: [WITH_ERROR]) {\n    edges {\n      node {\n        id\n        __typename\n      }\n      cursor\n    }\n    pageInfo {\n      hasNextPage\n      endCursor\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "b70810c9023d209f4e2e95623bde310c";

export default node;
