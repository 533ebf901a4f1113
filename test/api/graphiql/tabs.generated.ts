/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** How far a customer can be relied on to accept a package, judged by their earlier shipments. */
export type CustomerReliability =
  /** Sends some packages back. */
  | 'MODERATE'
  /** No earlier orders to judge by. */
  | 'NO_ORDERS'
  /** Accepts packages as a rule. */
  | 'RELIABLE'
  /** A value that this version of the server does not know. Not for input. */
  | 'UNRECOGNIZED'
  /** Sends many packages back. */
  | 'UNRELIABLE';

/** What a message consists of. */
export type MessageContentType =
  /** A template with its parameters. */
  | 'TEMPLATE'
  /** Free text. */
  | 'TEXT'
  /** A value that this version of the server does not know. Not for input. */
  | 'UNRECOGNIZED';

/** How far a message has come. */
export type MessageStatus =
  /** Arrived on the customer's phone. */
  | 'DELIVERED'
  /** Could not be delivered. */
  | 'FAILED'
  /** Read by the customer. */
  | 'READ'
  /** Taken on, not yet sent. */
  | 'SENDING'
  /** Sent. */
  | 'SENT'
  /** A value that this version of the server does not know. Not for input. */
  | 'UNRECOGNIZED';

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

export type ConversationQueryVariables = Exact<{ [key: string]: never; }>;


export type ConversationQuery = { conversation: { channel: { type: string, phoneNumber: string | null } | null, messages: { nodes: Array<{ createTime: string, status: MessageStatus, contentType: MessageContentType, body: string | null, template: { name: string, bodyParameters: Array<{ name: string, value: string }> } | null } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type SendMessageMutationVariables = Exact<{ [key: string]: never; }>;


export type SendMessageMutation = { sendMessage:
    | { message: string }
    | { message: string, fields: Array<{ path: string, message: string }> }
    | { message: string }
    | { message: string }
    | { sent: { id: string, status: MessageStatus, body: string | null } }
   | null };

export type LocationsQueryVariables = Exact<{
  search: string;
}>;


export type LocationsQuery = { locations: { nodes: Array<{ id: string, locality: string, administrativeArea: string, regionCode: string } | null>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type MissingQueryVariables = Exact<{ [key: string]: never; }>;


export type MissingQuery = { missing: { status: OrderStatus } | null, wrongId: { status: OrderStatus } | null, organization: { isCreditUser: boolean, balance: { formatted: string }, creditLimit: { formatted: string } } | null };
