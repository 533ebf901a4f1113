/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** How far an order has come. */
export type OrderStatus =
  /** Called off. */
  | 'CANCELLED'
  /** Confirmed with the customer. */
  | 'CONFIRMED'
  /** Received by the customer. Set by the service. */
  | 'DELIVERED'
  /** On its way. Set by the service. */
  | 'IN_PROGRESS'
  /** Recorded, not yet confirmed. */
  | 'NEW'
  /** Packed, ready to be shipped. */
  | 'READY'
  /** On its way back, or returned. Set by the service. */
  | 'RETURN'
  /** A value that this version of the server does not know. Not for input. */
  | 'UNRECOGNIZED';

/** How far a shipment has come. */
export type ShipmentStatus =
  /** At the courier's terminal near the destination. */
  | 'AT_DESTINATION_TERMINAL'
  /** At the courier's terminal near the origin. */
  | 'AT_ORIGIN_TERMINAL'
  /** Asked to be called off. */
  | 'CANCELLATION_REQUESTED'
  /** Called off. */
  | 'CANCELLED'
  /** Received. */
  | 'DELIVERED'
  /** The label is being made. */
  | 'GENERATING_LABEL'
  /** The courier has it. */
  | 'IN_PROGRESS'
  /** The label can be printed. */
  | 'LABEL_GENERATED'
  /** On the last way to the recipient. */
  | 'OUT_FOR_DELIVERY'
  /** Waits for the recipient at the courier's office. */
  | 'READY_FOR_PICKUP'
  /** On its way back, or returned. */
  | 'RETURN'
  /** The courier is to collect it. */
  | 'SCHEDULED_PICKUP'
  /** A value that this version of the server does not know. Not for input. */
  | 'UNRECOGNIZED'
  /** Something went wrong; the courier has to be asked. */
  | 'WITH_ERROR';

export type OrderBoardQueryVariables = Exact<{
  first?: number | null | undefined;
}>;


export type OrderBoardQuery = { orders: { nodes: Array<{ id: string, status: OrderStatus, recipient: { fullName: string, location: { locality: string } | null }, shipment: { status: ShipmentStatus, totalCost: { formatted: string } | null, origin: { id: string } | null, label: { url: string | null, pdfUrl: string } | null } | null } | null> } };


export const OrderBoardDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrderBoard"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orders"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"recipient"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fullName"}},{"kind":"Field","name":{"kind":"Name","value":"location"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"locality"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"shipment"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"totalCost"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"formatted"}}]}},{"kind":"Field","name":{"kind":"Name","value":"origin"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"label"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"pdfUrl"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<OrderBoardQuery, OrderBoardQueryVariables>;