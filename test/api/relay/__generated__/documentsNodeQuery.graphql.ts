/**
 * @generated SignedSource<<61fb68e18b59b37c2842c53d38f78dad>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type OrderStatus = "CANCELLED" | "CONFIRMED" | "DELIVERED" | "IN_PROGRESS" | "NEW" | "READY" | "RETURN" | "UNRECOGNIZED" | "%future added value";
export type documentsNodeQuery$variables = {
  id: string;
};
export type documentsNodeQuery$data = {
  readonly node: {
    readonly notes?: string;
    readonly status?: OrderStatus;
  } | null | undefined;
};
export type documentsNodeQuery = {
  response: documentsNodeQuery$data;
  variables: documentsNodeQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "id"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "id",
    "variableName": "id"
  }
],
v2 = {
  "kind": "InlineFragment",
  "selections": [
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "status",
      "storageKey": null
    },
    {
      "alias": null,
      "args": null,
      "kind": "ScalarField",
      "name": "notes",
      "storageKey": null
    }
  ],
  "type": "Order",
  "abstractKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsNodeQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "node",
        "plural": false,
        "selections": [
          (v2/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsNodeQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": null,
        "kind": "LinkedField",
        "name": "node",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "__typename",
            "storageKey": null
          },
          (v2/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "cacheID": "dc1ef9e4deda7fff687c35dccbbbebcd",
    "id": null,
    "metadata": {},
    "name": "documentsNodeQuery",
    "operationKind": "query",
    "text": "query documentsNodeQuery(\n  $id: ID!\n) {\n  node(id: $id) {\n    __typename\n    ... on Order {\n      status\n      notes\n    }\n    id\n  }\n}\n"
  }
};
})();

(node as any).hash = "18d4fe4e0c1ddde264e17e89add005a2";

export default node;
