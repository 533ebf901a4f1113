import type { ChannelJson, MessageJson, TemplateJson } from '../../src/rest/types.ts';
import { readableWith } from '../message-text.ts';
import { byName } from '../rest.ts';
import type { Screen } from '../screen.ts';

const channel = 'channels/ca1';
const conversation = `${channel}/conversations/ca60`;

/** What was said to one customer, and through which channel. */
export const conversationScreen: Screen = {
  name: 'conversation, 50 messages',
  query: `
    query Conversation($conversation: ID!) {
      conversation(id: $conversation) {
        channel { type active }
        messages(first: 50) { nodes { id createTime status body template { name } } }
      }
    }
  `,
  variables: { conversation },
  async byRest(rest) {
    const [messages, templates, channels] = await Promise.all([
      rest.page<MessageJson>(`/v1/${conversation}/messages`, { pageSize: 50 }),
      rest.page<TemplateJson>(`/v1/${channel}/templates`, { pageSize: 100 }),
      rest.page<ChannelJson>('/v1/channels', { pageSize: 100 }),
    ]);
    const readable = readableWith(templates);
    const { type, active } = byName(channels)(channel);
    const nodes = messages.map((message) => ({
      id: message.name,
      createTime: message.createTime,
      status: message.status,
      body: readable(message),
      template: message.template === undefined ? null : { name: message.template.name },
    }));
    return { conversation: { channel: { type, active }, messages: { nodes } } };
  },
};
