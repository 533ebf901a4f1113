/**
 * @generated SignedSource<<2f7585a44072dae7ce2a77af15be6c0a>>
 * @lightSyntaxTransform
 * @codegen-command: npx relay-compiler@21.0.1 test/api/relay/relay.config.json
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

import type { ConcreteRequest } from 'relay-runtime';
export type SendMessageInput = {
  content: MessageContentInput;
  conversation: string;
  idempotencyKey?: string | null | undefined;
};
export type MessageContentInput = {
  template: SendTemplateInput;
  text?: never;
} | {
  template?: never;
  text: string;
};
export type SendTemplateInput = {
  bodyParameters?: ReadonlyArray<TemplateParameterInput> | null | undefined;
  headerParameters?: ReadonlyArray<TemplateParameterInput> | null | undefined;
  language: string;
  name: string;
};
export type TemplateParameterInput = {
  name: string;
  value: string;
};
export type documentsSendMessageMutation$variables = {
  input: SendMessageInput;
};
export type documentsSendMessageMutation$data = {
  readonly sendMessage: {
    readonly __typename: string;
    readonly message?: string;
    readonly sent?: {
      readonly id: string;
      readonly text: string | null | undefined;
    };
  } | null | undefined;
};
export type documentsSendMessageMutation = {
  response: documentsSendMessageMutation$data;
  variables: documentsSendMessageMutation$variables;
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
    "name": "sendMessage",
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
            "concreteType": "Message",
            "kind": "LinkedField",
            "name": "sent",
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
                "name": "text",
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "type": "SendMessageSuccess",
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
          }
        ],
        "type": "UserError",
        "abstractKey": "__isUserError"
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
    "name": "documentsSendMessageMutation",
    "selections": (v1/*:: as any*/),
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "documentsSendMessageMutation",
    "selections": (v1/*:: as any*/)
  },
  "params": {
    "cacheID": "b861e3de5099d8683a4eafe0941aa0d7",
    "id": null,
    "metadata": {},
    "name": "documentsSendMessageMutation",
    "operationKind": "mutation",
    "text": "mutation documentsSendMessageMutation(\n  $input: SendMessageInput!\n) {\n  sendMessage(input: $input) {\n    __typename\n    ... on SendMessageSuccess {\n      sent {\n        id\n        text\n      }\n    }\n    ... on UserError {\n      __isUserError: __typename\n      message\n    }\n  }\n}\n"
  }
};
})();

(node as any).hash = "0bc3913cc91bc8922e7fed336fbb5600";

export default node;
