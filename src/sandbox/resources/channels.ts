import { Type } from 'typebox';
import type { Server, Service } from '../http/server-type.ts';
import { ChannelPath, ListQuery } from '../interface/requests.ts';
import { Channel, Template } from '../interface/schemas.ts';
import { errorResponses } from '../interface/service-error.ts';

/** Adds the routes of channels and their templates. */
export function addRoutes(server: Server, { store }: Service): void {
  server.get(
    '/v1/channels',
    {
      schema: {
        operationId: 'listChannels',
        summary: 'List the messaging channels.',
        tags: ['Messaging'],
        querystring: ListQuery({ defaultSize: 50, maxSize: 100 }, {}),
        response: {
          200: Type.Object({ channels: Type.Array(Channel), nextPageToken: Type.String() }),
          ...errorResponses(400),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, query: { pageSize = 50, pageToken } }) => {
      const list = { merchant: merchant.id, path: 'channels' };
      const page = store.channels.page(list, { pageSize, pageToken, oldestFirst });
      return { channels: page.items, nextPageToken: page.nextPageToken };
    },
  );

  server.get(
    '/v1/channels/:channelId/templates',
    {
      schema: {
        operationId: 'listTemplates',
        summary: 'List the message templates of a channel.',
        tags: ['Messaging'],
        params: ChannelPath,
        querystring: ListQuery({ defaultSize: 50, maxSize: 100 }, {}),
        response: {
          200: Type.Object({ templates: Type.Array(Template), nextPageToken: Type.String() }),
          ...errorResponses(400, 404),
        },
      },
    },
    ({ merchant, quirks: { oldestFirst }, params, query: { pageSize = 50, pageToken } }) => {
      const channels = { merchant: merchant.id, path: 'channels' };
      const channel = store.channels.get(channels, `channels/${params.channelId}`);
      const list = { merchant: merchant.id, path: `${channel.name}/templates` };
      const page = store.templates.page(list, { pageSize, pageToken, oldestFirst });
      return { templates: page.items, nextPageToken: page.nextPageToken };
    },
  );
}
