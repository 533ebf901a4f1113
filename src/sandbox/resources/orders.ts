import { Type } from 'typebox';
import type { Server, Service } from '../http/server-type.ts';
import { CreateOrderBody, IdPath, ListQuery, TextFilter, UpdateOrderBody } from '../interface/requests.ts';
import { Order, OrderStatus } from '../interface/schemas.ts';
import { conflict, errorResponses, invalid } from '../interface/service-error.ts';
import { customerBehaviorFor } from '../rules/customer-fields.ts';
import { shipmentDueAt } from '../rules/due-transitions.ts';
import { recipientFrom } from '../rules/recipients.ts';
import { hasStatus, matchesSearch, type Store } from '../store/store.ts';

const tags = ['Orders'];

/** Adds the routes of orders: create, list, read and update. */
export function addRoutes(server: Server, { store, clock, staleOrders }: Service): void {
  server.post(
    '/v1/orders',
    {
      schema: {
        operationId: 'createOrder',
        summary: 'Create an order.',
        tags,
        body: CreateOrderBody,
        response: { 201: Order, ...errorResponses(400) },
      },
    },
    ({ merchant, quirks, body }, reply) => {
      const list = { merchant: merchant.id, path: 'orders' };
      const createTime = clock.now().toISOString();
      const name = `orders/${store.nextIdentifier(list, quirks.identifiers, merchant.prefix, 4)}`;
      const order: Order = {
        name,
        createTime,
        updateTime: createTime,
        status: 'NEW',
        fulfiller: 'OPERATOR',
        ...body,
        recipient: recipientFrom(store, body.recipient),
        ...customerBehaviorFor(store, merchant, body.recipient.phoneNumber, name),
      };
      store.orders.insert(list, order);
      reply.code(201);
      return order;
    },
  );

  server.get(
    '/v1/orders',
    {
      schema: {
        operationId: 'listOrders',
        summary: 'List orders, newest first.',
        tags,
        querystring: ListQuery(
          { defaultSize: 100, maxSize: 1000 },
          {
            status: TextFilter(`Order statuses, separated by commas: ${OrderStatus.enum.join(', ')}.`),
            search: TextFilter(
              'The name of the recipient (perhaps misspelt), or an exact phone number or reference.',
            ),
          },
        ),
        response: {
          200: Type.Object({ orders: Type.Array(Order), nextPageToken: Type.String() }),
          ...errorResponses(400),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, query: { pageSize = 100, pageToken, status, search } }) => {
      const filters = [
        ...(status === undefined ? [] : [hasStatus(parseStatuses(status))]),
        ...(search === undefined ? [] : [matchesSearch(search)]),
      ];
      const page = store.orders.page(
        { merchant: merchant.id, path: 'orders' },
        { pageSize, pageToken, oldestFirst, filters },
      );
      return {
        // Where `quirks.shipmentNamedAfterMs` is set, reads return the order without its new shipment for a while.
        orders: page.items.map((order) => staleOrders.read(merchant.id, order)),
        nextPageToken: page.nextPageToken,
      };
    },
  );

  server.get(
    '/v1/orders/:id',
    {
      schema: {
        operationId: 'getOrder',
        summary: 'Read an order.',
        tags,
        params: IdPath,
        response: { 200: Order, ...errorResponses(400, 404) },
      },
    },
    ({ merchant, params }) => {
      const order = store.orders.get({ merchant: merchant.id, path: 'orders' }, `orders/${params.id}`);
      return staleOrders.read(merchant.id, order);
    },
  );

  server.patch(
    '/v1/orders/:id',
    {
      schema: {
        operationId: 'updateOrder',
        summary: 'Update the fields of an order that `updateMask` names.',
        tags,
        params: IdPath,
        body: UpdateOrderBody,
        response: { 200: Order, ...errorResponses(400, 404, 409) },
      },
    },
    ({ merchant, params, body }) => {
      const list = { merchant: merchant.id, path: 'orders' };
      const order = store.orders.get(list, `orders/${params.id}`);
      const changes = maskedFields(body);
      assertUpdatable(order, changes);
      const { recipient: recipientInput, ...others } = changes;
      const recipient = recipientInput === undefined ? order.recipient : recipientFrom(store, recipientInput);
      const isSameCustomer = recipient.phoneNumber === order.recipient.phoneNumber;
      const updated: Order = {
        ...order,
        ...others,
        recipient,
        ...(isSameCustomer ? {} : customerBehaviorFor(store, merchant, recipient.phoneNumber, order.name)),
        updateTime: clock.now().toISOString(),
      };
      store.database.transaction(() => {
        store.orders.replace(list, updated);
        if (updated.status === 'CANCELLED') requestCancellation(store, merchant.id, updated, clock.now());
      });
      staleOrders.drop(merchant.id, updated.name);
      return updated;
    },
  );
}

function parseStatuses(text: string): string[] {
  const allStatuses: readonly string[] = OrderStatus.enum;
  const statuses = text.split(',');
  const unknown = statuses.filter((status) => !allStatuses.includes(status));
  if (unknown.length > 0) {
    throw invalid({
      field: 'status',
      message: `must contain only ${allStatuses.join(', ')}, but contains ${unknown.map((status) => `"${status}"`).join(', ')}`,
    });
  }
  // In a fixed order without duplicates, so that a page token is valid for any order of the same statuses.
  return allStatuses.filter((status) => statuses.includes(status));
}

/** Picks the fields of the mask ("Update Order rules" 4). @throws ServiceError 400 for a missing field. */
function maskedFields({ order, updateMask }: UpdateOrderBody): UpdateOrderBody['order'] {
  const missing = updateMask.filter((field) => order[field] === undefined);
  if (missing.length > 0) {
    throw invalid(
      ...missing.map((field) => ({
        field: `order.${field}`,
        message: 'is required, because updateMask names it',
      })),
    );
  }
  return Object.fromEntries(updateMask.map((field) => [field, order[field]]));
}

/** @throws ServiceError 409 if the order is finished, or if the status of a shipped order would change. */
function assertUpdatable({ name, status, shipment }: Order, changes: UpdateOrderBody['order']): void {
  if (!['NEW', 'CONFIRMED', 'READY'].includes(status)) {
    throw conflict(`${name} is ${status} and can no longer be updated`);
  }
  if (shipment !== undefined && changes.status !== undefined && changes.status !== 'CANCELLED') {
    throw conflict(`The status of ${name} follows ${shipment}, and can only be set to CANCELLED`);
  }
}

function requestCancellation(store: Store, merchant: string, order: Order, at: Date): void {
  if (order.shipment === undefined) return;
  const list = { merchant, path: 'shipments' };
  const shipment = {
    ...store.shipments.get(list, order.shipment),
    status: 'CANCELLATION_REQUESTED' as const,
    updateTime: at.toISOString(),
  };
  store.shipments.replace(list, shipment, shipmentDueAt(shipment, at));
}
