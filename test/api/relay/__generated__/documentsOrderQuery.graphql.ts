/**
 * @generated SignedSource<<20dc3c126be61c101f90f7c0d9e30dc0>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type OrderStatus = "CANCELLED" | "CONFIRMED" | "DELIVERED" | "IN_PROGRESS" | "NEW" | "READY" | "RETURN" | "UNRECOGNIZED" | "%future added value";
export type documentsOrderQuery$variables = {
  id: string;
};
export type documentsOrderQuery$data = {
  readonly order: {
    readonly id: string;
    readonly notes: string;
    readonly shipment: {
      readonly id: string;
      readonly label: {
        readonly id: string;
        readonly url: string | null | undefined;
      } | null | undefined;
    } | null | undefined;
    readonly status: OrderStatus;
  } | null | undefined;
};
export type documentsOrderQuery = {
  response: documentsOrderQuery$data;
  variables: documentsOrderQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "id"
  }
],
v1 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v2 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "id",
        "variableName": "id"
      }
    ],
    "concreteType": "Order",
    "kind": "LinkedField",
    "name": "order",
    "plural": false,
    "selections": [
      (v1/*:: as any*/),
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
      },
      {
        "alias": null,
        "args": null,
        "concreteType": "Shipment",
        "kind": "LinkedField",
        "name": "shipment",
        "plural": false,
        "selections": [
          (v1/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "concreteType": "Label",
            "kind": "LinkedField",
            "name": "label",
            "plural": false,
            "selections": [
              (v1/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "url",
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "storageKey": null
  }
];
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "documentsOrderQuery",
    "selections": (v2/*:: as any*/),
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsOrderQuery",
    "selections": (v2/*:: as any*/)
  },
  "params": {
    "cacheID": "fc3561f62a5a6e0155d82b1bc17591d3",
    "id": null,
    "metadata": {},
    "name": "documentsOrderQuery",
    "operationKind": "query",
    "text": "query documentsOrderQuery(\n  $id: ID!\n) {\n  order(id: $id) {\n    id\n    status\n    notes\n    shipment {\n      id\n      label {\n        id\n        url\n      }\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "5c1d2a7f11c67f8bb3340a0fc6df156a";

export default node;
