/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** The reliability of a customer in accepting packages, based on earlier shipments. */
export type CustomerReliability =
  /** The customer returns some packages. */
  | 'MODERATE'
  /** The customer has no earlier orders. */
  | 'NO_ORDERS'
  /** The customer usually accepts packages. */
  | 'RELIABLE'
  /** A value that this version of the server does not know. Not valid as input. */
  | 'UNRECOGNIZED'
  /** The customer returns many packages. */
  | 'UNRELIABLE';

/** What became of the label of a shipment. */
export type LabelOutcome =
  /** The label was not read, for a reason outside the shipment. Try again. */
  | 'FAILED'
  /** The label is in the document. */
  | 'INCLUDED'
  /** The shipment does not exist. */
  | 'NOT_FOUND'
  /** The shipment has no label yet, or will never have one. The `status` of the shipment says which. */
  | 'NOT_READY'
  /** The label is not a PDF that can be printed. */
  | 'UNREADABLE';

/** The content type of a message. */
export type MessageContentType =
  /** A template with its parameters. */
  | 'TEMPLATE'
  /** A text without a template. */
  | 'TEXT'
  /** A value that this version of the server does not know. Not valid as input. */
  | 'UNRECOGNIZED';

/** The delivery status of a message. */
export type MessageStatus =
  /** The message is on the customer's phone. */
  | 'DELIVERED'
  /** The message could not be delivered. */
  | 'FAILED'
  /** The customer read the message. */
  | 'READ'
  /** The message is accepted, but not sent yet. */
  | 'SENDING'
  /** The message was sent. */
  | 'SENT'
  /** A value that this version of the server does not know. Not valid as input. */
  | 'UNRECOGNIZED';

/** The status of an order. */
export type OrderStatus =
  /** The order is cancelled. */
  | 'CANCELLED'
  /** The customer confirmed the order. */
  | 'CONFIRMED'
  /** The customer received the order. Only the REST service sets this status. */
  | 'DELIVERED'
  /** The order is in transit. Only the REST service sets this status. */
  | 'IN_PROGRESS'
  /** The order is not confirmed yet. */
  | 'NEW'
  /** The order is packed and ready to ship. */
  | 'READY'
  /** The order is being returned, or was returned. Only the REST service sets this status. */
  | 'RETURN'
  /** A value that this version of the server does not know. Not valid as input. */
  | 'UNRECOGNIZED';

/** The status of a shipment. */
export type ShipmentStatus =
  /** The package is at the courier's terminal near the destination. */
  | 'AT_DESTINATION_TERMINAL'
  /** The package is at the courier's terminal near the origin. */
  | 'AT_ORIGIN_TERMINAL'
  /** The cancellation was requested. */
  | 'CANCELLATION_REQUESTED'
  /** The shipment is cancelled. */
  | 'CANCELLED'
  /** The recipient received the package. */
  | 'DELIVERED'
  /** The label is being generated. */
  | 'GENERATING_LABEL'
  /** The courier has the package. */
  | 'IN_PROGRESS'
  /** The label is ready to print. */
  | 'LABEL_GENERATED'
  /** The package is out for delivery. */
  | 'OUT_FOR_DELIVERY'
  /** The recipient can collect the package at the courier's office. */
  | 'READY_FOR_PICKUP'
  /** The package is being returned, or was returned. */
  | 'RETURN'
  /** The pickup is scheduled. */
  | 'SCHEDULED_PICKUP'
  /** A value that this version of the server does not know. Not valid as input. */
  | 'UNRECOGNIZED'
  /** The shipment has an error. Contact the courier. */
  | 'WITH_ERROR';

export type OrdersQueryVariables = Exact<{ [key: string]: never; }>;


export type OrdersQuery = { orders: { nodes: Array<{ id: string, status: OrderStatus, recipient: { fullName: string, address: { locality: string } }, cashOnDelivery: { formatted: string }, shipment: { status: ShipmentStatus, courier: { code: string } | null, totalCost: { formatted: string } | null, label: { id: string, pdfUrl: string } | null } | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type OrderQueryVariables = Exact<{ [key: string]: never; }>;


export type OrderQuery = { order: { status: OrderStatus, contentDescription: string, sellingPrice: { formatted: string }, shipment: { status: ShipmentStatus, totalCost: { cents: number, formatted: string } | null, quote: { offers: Array<{ status: string, estimatedDeliveryOperatingDays: number | null, courier: { code: string }, shipmentCost: { formatted: string } | null }>, cheapestOffer: { estimatedDeliveryOperatingDays: number | null, courier: { code: string }, shipmentCost: { formatted: string } | null } | null, fastestOffer: { estimatedDeliveryOperatingDays: number | null, courier: { code: string }, shipmentCost: { formatted: string } | null } | null } | null, courier: { code: string } | null, origin: { address: { addressLines: Array<string> } | null, location: { locality: string, administrativeArea: string } | null } | null } | null, customerBehavior: { deliveredShipments: number, reliability: CustomerReliability }, recipient: { fullName: string, phoneNumber: string, orders: { nodes: Array<{ id: string, createTime: string, status: OrderStatus, contentDescription: string } | null> } | null } } | null };

export type TermsFragment = { estimatedDeliveryOperatingDays: number | null, courier: { code: string }, shipmentCost: { formatted: string } | null };

export type CreateOrderMutationVariables = Exact<{ [key: string]: never; }>;


export type CreateOrderMutation = { createOrder:
    | { message: string }
    | { order: { id: string, status: OrderStatus, cashOnDelivery: { formatted: string } } }
    | { message: string, fields: Array<{ path: string, message: string }> }
    | { message: string }
    | { message: string }
   | null };

export type ShipOrderMutationVariables = Exact<{ [key: string]: never; }>;


export type ShipOrderMutation = { shipOrder:
    | { message: string }
    | { message: string }
    | { message: string, quote: { offers: Array<{ status: string, courier: { code: string } }> } }
    | { message: string }
    | { message: string }
    | { offer: { courier: { code: string }, shipmentCost: { formatted: string } | null }, shipment: { id: string, status: ShipmentStatus, label: { pdfUrl: string } | null } }
    | { message: string }
   | null };

export type PrintLabelsMutationVariables = Exact<{ [key: string]: never; }>;


export type PrintLabelsMutation = { createLabelDocument:
    | { document: { url: string, expireTime: string, pageCount: number, labelCount: number, entries: Array<{ shipmentId: string, outcome: LabelOutcome, page: number | null }> } }
    | { message: string }
   | null };

export type ConversationQueryVariables = Exact<{ [key: string]: never; }>;


export type ConversationQuery = { conversation: { channel: { type: string, phoneNumber: string | null } | null, messages: { nodes: Array<{ createTime: string, status: MessageStatus, contentType: MessageContentType, body: string | null, template: { name: string, bodyParameters: Array<{ name: string, value: string }> } | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type SendMessageMutationVariables = Exact<{ [key: string]: never; }>;


export type SendMessageMutation = { sendMessage:
    | { message: string }
    | { message: string, fields: Array<{ path: string, message: string }> }
    | { message: string }
    | { message: string }
    | { sent: { id: string, status: MessageStatus, body: string | null } }
    | { message: string }
   | null };

export type LocationsQueryVariables = Exact<{
  search?: string;
}>;


export type LocationsQuery = { locations: { nodes: Array<{ id: string, locality: string, administrativeArea: string, regionCode: string } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type StuckParcelsQueryVariables = Exact<{ [key: string]: never; }>;


export type StuckParcelsQuery = { orders: { nodes: Array<{ id: string, recipient: { fullName: string, phoneNumber: string }, shipment: { status: ShipmentStatus, updateTime: string | null, courier: { code: string } | null } | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type MissingQueryVariables = Exact<{ [key: string]: never; }>;


export type MissingQuery = { missing: { status: OrderStatus } | null, wrongId: { status: OrderStatus } | null, organization: { isCreditUser: boolean, balance: { formatted: string }, creditLimit: { formatted: string } } | null };

export type WatchLabelSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type WatchLabelSubscription = { shipment: { status: ShipmentStatus, updateTime: string | null, label: { id: string, pdfUrl: string } | null } | null };
