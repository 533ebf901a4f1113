import type { MessageJson, TemplateJson } from '../../src/rest/types.ts';
import { readableWith } from '../message-text.ts';
import type { Screen } from '../screen.ts';

const channel = 'channels/ca1';
// REST lists no conversations: whoever shows an inbox has kept their ids.
const conversations = [60, 58, 54, 53, 52, 42, 37, 29, 13, 10].map(
  (number) => `${channel}/conversations/ca${number}`,
);

/** Ten conversations, each with the last thing that was said. */
export const inbox: Screen = {
  name: 'inbox, 10 conversations',
  query: `
    query Inbox($conversations: [ID!]!) {
      nodes(ids: $conversations) {
        ... on Conversation {
          id
          messages(first: 1) { nodes { createTime status body } }
        }
      }
    }
  `,
  variables: { conversations },
  async byRest(rest) {
    const [templates, ...pages] = await Promise.all([
      rest.page<TemplateJson>(`/v1/${channel}/templates`, { pageSize: 100 }),
      ...conversations.map((name) => rest.page<MessageJson>(`/v1/${name}/messages`, { pageSize: 1 })),
    ]);
    const readable = readableWith(templates);
    const nodes = conversations.map((id, index) => ({
      id,
      messages: {
        nodes: pages[index]?.map((message) => ({
          createTime: message.createTime,
          status: message.status,
          body: readable(message),
        })),
      },
    }));
    return { nodes };
  },
};
