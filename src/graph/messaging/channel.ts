import { maxPageSize } from '../../loaders/loaders.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { isNameOf, resourceName } from '../../rest/resource-name.ts';
import type { ChannelJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { connect, connectionArgs, connectionOf } from '../relay/connection.ts';
import { Node, registerNode } from '../relay/node.ts';

export const Channel = builder.objectRef<ChannelJson>('Channel').implement({
  description: 'A messaging account of the merchant, through which customers are written to.',
  interfaces: [Node],
  fields: (t) => ({
    type: t.exposeString('type', { description: 'The network, in lower case, such as `chat`.' }),
    active: t.exposeBoolean('active', { description: 'Whether messages can be sent through it.' }),
    phoneNumber: t.string({
      nullable: true,
      description: 'The phone number that customers see, where the network has one.',
      resolve: phoneNumberOf,
    }),
  }),
});

/**
 * Finds the phone number of a channel. REST puts the number into an object named after the network, such as `chatApp`
 * ("Channel"). Networks are not known in advance: the first object with a phone number counts.
 * @throws InvalidResponseError if the phone number is no text
 */
function phoneNumberOf(channel: ChannelJson): string | null {
  for (const value of Object.values(channel)) {
    if (typeof value !== 'object' || value === null || !('phoneNumber' in value)) continue;
    const { phoneNumber } = value;
    if (typeof phoneNumber === 'string') return phoneNumber;
    if (phoneNumber !== undefined && phoneNumber !== null)
      throw new InvalidResponseError(`${channel.name} came with a phone number that is no text`);
  }
  return null;
}

const ChannelConnection = connectionOf(Channel, 'channels');

registerNode({
  typename: 'Channel',
  owns: (id) => isNameOf('channels', id),
  load: (id, { channelById }) => channelById.load(id),
});

builder.queryFields((t) => ({
  channel: t.field({
    type: Channel,
    nullable: true,
    description: 'One channel, or null where there is none. Costs `GET /v1/channels`, once for all channels.',
    args: {
      id: t.arg.id({ required: true, description: '`channels/<identifier>` or the bare identifier.' }),
    },
    resolve: (_root, { id }, { loaders }) => loaders.channelById.load(resourceName('channels', id)),
  }),
  channels: t.field({
    type: ChannelConnection,
    nullable: true,
    description: "The merchant's channels. Costs `GET /v1/channels`.",
    args: connectionArgs(maxPageSize.channels),
    resolve: (_root, args, { loaders }) =>
      connect({
        list: 'channels',
        pages: loaders.channelPage,
        query: {},
        args,
        maximum: maxPageSize.channels,
      }),
  }),
}));
