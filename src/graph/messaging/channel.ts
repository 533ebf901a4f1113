import { isJsonObject } from '../../base/json-object.ts';
import type { ChannelJson } from '../../rest/wire-schema.ts';
import { builder } from '../builder.ts';
import { defineList } from '../relay/connection.ts';
import { defineRecordQuery, Node } from '../relay/node.ts';

export const Channel = builder.objectRef<ChannelJson>('Channel').implement({
  description: 'A messaging account of the merchant, used to send messages to customers.',
  interfaces: [Node],
  fields: (t) => ({
    type: t.exposeString('type', { description: 'The messaging network in lower case, such as `chat`.' }),
    active: t.exposeBoolean('active', { description: 'Whether the channel can send messages.' }),
    phoneNumber: t.string({
      nullable: true,
      description: 'The phone number that customers see, or null if the network uses no phone numbers.',
      resolve: findPhoneNumber,
    }),
  }),
});

/** REST puts the number into an object named after the network, such as `chatApp` ("Channel"). Any name may be a network. */
function findPhoneNumber(channel: ChannelJson): string | null {
  const accounts = Object.values<unknown>(channel).filter(isJsonObject);
  const phoneNumber = accounts
    .map((account) => account.phoneNumber ?? null)
    .find((number) => number !== null);
  // The field fails if the number is not a string.
  return (phoneNumber ?? null) as string | null;
}

const channelList = defineList(Channel, 'channels');

defineRecordQuery('channel', Channel, 'channels');

builder.queryFields((t) => ({
  channels: t.field({
    ...channelList.field,
    description: "The merchant's channels. Costs `GET /v1/channels`.",
    resolve: (_root, args, { loaders }) => channelList.read(loaders.channelPage, args, {}),
  }),
}));
