/**
 * @generated SignedSource<<092e5f10a7f8d1ca25d3921876a962d4>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type ShipmentStatus = "AT_DESTINATION_TERMINAL" | "AT_ORIGIN_TERMINAL" | "CANCELLATION_REQUESTED" | "CANCELLED" | "DELIVERED" | "GENERATING_LABEL" | "IN_PROGRESS" | "LABEL_GENERATED" | "OUT_FOR_DELIVERY" | "READY_FOR_PICKUP" | "RETURN" | "SCHEDULED_PICKUP" | "UNRECOGNIZED" | "WITH_ERROR" | "%future added value";
export type documentsLabelSubscription$variables = {
  id: string;
};
export type documentsLabelSubscription$data = {
  readonly shipment: {
    readonly id: string;
    readonly label: {
      readonly id: string;
    } | null | undefined;
    readonly status: ShipmentStatus;
  } | null | undefined;
};
export type documentsLabelSubscription = {
  response: documentsLabelSubscription$data;
  variables: documentsLabelSubscription$variables;
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
    "concreteType": "Shipment",
    "kind": "LinkedField",
    "name": "shipment",
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
        "concreteType": "Label",
        "kind": "LinkedField",
        "name": "label",
        "plural": false,
        "selections": [
          (v1/*:: as any*/)
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
    "name": "documentsLabelSubscription",
    "selections": (v2/*:: as any*/),
    "type": "Subscription",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsLabelSubscription",
    "selections": (v2/*:: as any*/)
  },
  "params": {
    "cacheID": "82dc00de67a5e19bf7a917529aa3a6b5",
    "id": null,
    "metadata": {},
    "name": "documentsLabelSubscription",
    "operationKind": "subscription",
    "text": "subscription documentsLabelSubscription(\n  $id: ID!\n) {\n  shipment(id: $id) {\n    id\n    status\n    label {\n      id\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "0b6a0e793941b3ee91db07d37394d3f2";

export default node;
