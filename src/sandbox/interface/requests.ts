import { type Static, Type } from 'typebox';
import { fields, ResourceName } from './schemas.ts';

/** The bodies, queries and path parameters of "Endpoints". Unknown fields are rejected. */

const noOtherFields = { additionalProperties: false };

const AddressInput = Type.Object(
  {
    addressLines: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 5 }),
    organization: Type.Optional(fields.NullableString),
  },
  { $id: 'AddressInput', ...noOtherFields },
);

const person = {
  firstName: fields.PersonName,
  lastName: fields.PersonName,
  documentType: Type.Optional(fields.DocumentType),
  document: Type.Optional(fields.NullableString),
  email: fields.Email,
  phoneNumber: fields.Phone,
  address: AddressInput,
};

/** The recipient of a new shipment ("Create Shipment body"). */
export type ShipmentRecipientInput = Static<typeof ShipmentRecipientInput>;
export const ShipmentRecipientInput = Type.Object(person, {
  $id: 'ShipmentRecipientInput',
  ...noOtherFields,
});

/** The recipient of an order in a request ("Recipient"). */
export type RecipientInput = Static<typeof RecipientInput>;
export const RecipientInput = Type.Object(
  { ...person, location: fields.LocationName },
  { $id: 'RecipientInput', ...noOtherFields },
);

const PaymentMethods = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 });

/** "Create Order body fields". */
export type CreateOrderBody = Static<typeof CreateOrderBody>;
export const CreateOrderBody = Type.Object(
  {
    status: Type.Optional(Type.Enum(['NEW', 'CONFIRMED'])),
    recipient: RecipientInput,
    contentDescription: fields.ContentDescription,
    notes: fields.Notes,
    sellingPriceCents: fields.Cents,
    cashOnDeliveryRequestCents: fields.CentsFromZero,
    paymentMethods: Type.Optional(PaymentMethods),
    referenceId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    referenceUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 2048 })),
    fulfiller: Type.Optional(fields.Fulfiller),
  },
  { $id: 'CreateOrderBody', ...noOtherFields },
);

/** "Update Order rules" 1 to 3. */
export type UpdateOrderBody = Static<typeof UpdateOrderBody>;
export const UpdateOrderBody = Type.Object(
  {
    order: Type.Object(
      {
        status: Type.Optional(Type.Enum(['NEW', 'CONFIRMED', 'READY', 'CANCELLED'])),
        recipient: Type.Optional(RecipientInput),
        contentDescription: Type.Optional(fields.ContentDescription),
        notes: Type.Optional(fields.Notes),
        sellingPriceCents: Type.Optional(fields.Cents),
        cashOnDeliveryRequestCents: Type.Optional(fields.CentsFromZero),
        paymentMethods: Type.Optional(PaymentMethods),
        fulfiller: Type.Optional(fields.Fulfiller),
      },
      noOtherFields,
    ),
    updateMask: Type.Array(
      Type.Enum([
        'status',
        'recipient',
        'sellingPriceCents',
        'cashOnDeliveryRequestCents',
        'paymentMethods',
        'contentDescription',
        'notes',
        'fulfiller',
      ]),
      { minItems: 1 },
    ),
  },
  { $id: 'UpdateOrderBody', ...noOtherFields },
);

/** "Create Shipment body". */
export type CreateShipmentBody = Static<typeof CreateShipmentBody>;
export const CreateShipmentBody = Type.Object(
  {
    quote: ResourceName('quotes'),
    courier: ResourceName('couriers'),
    origin: ResourceName('origins'),
    recipient: ShipmentRecipientInput,
    requiresPickup: Type.Boolean(),
  },
  { $id: 'CreateShipmentBody', ...noOtherFields },
);

const Text = Type.String({ minLength: 1, maxLength: 4096 });
const Parameters = Type.Record(Type.String(), Type.String({ maxLength: 1024 }));

/** A template to send. The interface does not show its shape, so it has the shape of templates in responses. */
export type TemplateInput = Static<typeof TemplateInput>;
export const TemplateInput = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    language: Type.String({ minLength: 1 }),
    headerParameters: Type.Optional(Parameters),
    bodyParameters: Type.Optional(Parameters),
  },
  { $id: 'TemplateInput', ...noOtherFields },
);

/** Exactly one of `text` and `template`. The route checks this. */
export type CreateMessageBody = Static<typeof CreateMessageBody>;
export const CreateMessageBody = Type.Object(
  { text: Type.Optional(Text), template: Type.Optional(TemplateInput) },
  { $id: 'CreateMessageBody', description: 'Either `text` or `template`.', ...noOtherFields },
);

/** The body of `POST /v1/channels/{channelId}/messages`. */
export type CreateMessageByPhoneBody = Static<typeof CreateMessageByPhoneBody>;
export const CreateMessageByPhoneBody = Type.Object(
  {
    recipient: Type.Object({ phone: fields.Phone, name: fields.PersonName }, noOtherFields),
    text: Text,
  },
  { $id: 'CreateMessageByPhoneBody', ...noOtherFields },
);

/** The query of a list: page size, page token and filters ("List query parameters"). */
export function ListQuery<Filters extends Record<string, ReturnType<typeof TextFilter>>>(
  { defaultSize, maxSize }: { defaultSize: number; maxSize: number },
  filters: Filters,
) {
  return Type.Object(
    {
      pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSize, default: defaultSize })),
      pageToken: Type.Optional(Type.String({ description: 'The `nextPageToken` of the previous page.' })),
      ...filters,
    },
    noOtherFields,
  );
}

/** A text filter of a list. */
export function TextFilter(description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));
}

/** The path parameters of routes for one record. */
export const IdPath = Type.Object({ id: fields.identifier });
/** The path parameters of routes below a channel. */
export const ChannelPath = Type.Object({ channelId: fields.identifier });
/** The path parameters of routes below a conversation. */
export const ConversationPath = Type.Object({
  channelId: fields.identifier,
  conversationId: fields.identifier,
});
