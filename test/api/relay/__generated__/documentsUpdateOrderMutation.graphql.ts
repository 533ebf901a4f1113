/**
 * @generated SignedSource<<7be21cb9dca3369952e73d6d8f6d55e4>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type DocumentType = "CC" | "CE" | "NI" | "TI" | "UNRECOGNIZED" | "%future added value";
export type OrderStatus = "CANCELLED" | "CONFIRMED" | "DELIVERED" | "IN_PROGRESS" | "NEW" | "READY" | "RETURN" | "UNRECOGNIZED" | "%future added value";
export type OrderUpdatableStatus = "CANCELLED" | "CONFIRMED" | "NEW" | "READY" | "%future added value";
export type UpdateOrderInput = {
  cashOnDeliveryRequestCents?: number | null | undefined;
  contentDescription?: string | null | undefined;
  fulfiller?: string | null | undefined;
  id: string;
  notes?: string | null | undefined;
  paymentMethods?: ReadonlyArray<string> | null | undefined;
  recipient?: OrderRecipientInput | null | undefined;
  sellingPriceCents?: number | null | undefined;
  status?: OrderUpdatableStatus | null | undefined;
};
export type OrderRecipientInput = {
  address: AddressInput;
  document?: string | null | undefined;
  documentType?: DocumentType | null | undefined;
  email: string;
  firstName: string;
  lastName: string;
  location: string;
  phoneNumber: string;
};
export type AddressInput = {
  addressLines: ReadonlyArray<string>;
  organization?: string | null | undefined;
};
export type documentsUpdateOrderMutation$variables = {
  input: UpdateOrderInput;
};
export type documentsUpdateOrderMutation$data = {
  readonly updateOrder: {
    readonly __typename: "NotFound";
    readonly message: string;
    readonly missingId: string;
  } | {
    readonly __typename: "UpdateOrderSuccess";
    readonly order: {
      readonly id: string;
      readonly notes: string;
      readonly status: OrderStatus;
    };
  } | {
    // This will never be '%other', but we need some
    // value in case none of the concrete values match.
    readonly __typename: "%other";
  } | null | undefined;
};
export type documentsUpdateOrderMutation = {
  response: documentsUpdateOrderMutation$data;
  variables: documentsUpdateOrderMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "alias": null,
    "args": [
      {
        "kind": "Variable",
        "name": "input",
        "variableName": "input"
      }
    ],
    "concreteType": null,
    "kind": "LinkedField",
    "name": "updateOrder",
    "plural": false,
    "selections": [
      {
        "alias": null,
        "args": null,
        "kind": "ScalarField",
        "name": "__typename",
        "storageKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Order",
            "kind": "LinkedField",
            "name": "order",
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
            "storageKey": null
          }
        ],
        "type": "UpdateOrderSuccess",
        "abstractKey": null
      },
      {
        "kind": "InlineFragment",
        "selections": [
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "message",
            "storageKey": null
          },
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "missingId",
            "storageKey": null
          }
        ],
        "type": "NotFound",
        "abstractKey": null
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
    "name": "documentsUpdateOrderMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsUpdateOrderMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "24b182ffb268d64a8c8b599e8075b430",
    "id": null,
    "metadata": {},
    "name": "documentsUpdateOrderMutation",
    "operationKind": "mutation",
    "text": "mutation documentsUpdateOrderMutation(\n  $input: UpdateOrderInput!\n) {\n  updateOrder(input: $input) {\n    __typename\n    ... on UpdateOrderSuccess {\n      order {\n        id\n        status\n        notes\n      }\n    }\n    ... on NotFound {\n      message\n      missingId\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "4f907768c5c9fe564b7bf73c4a99738d";

export default node;
