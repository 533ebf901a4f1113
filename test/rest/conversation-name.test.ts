import { describe, expect, test } from 'vitest';
import { conversationName, messageConversation } from '../../src/rest/conversation-name.ts';
import { isNameFor } from '../../src/rest/resource-name.ts';

describe('conversationName', () => {
  const conversation = {
    name: 'channels/1/conversations/17',
    channel: 'channels/1',
    conversation: '17',
  };

  test('returns the parts of a conversation name', () => {
    expect(conversationName('channels/1/conversations/17')).toEqual(conversation);
    expect(messageConversation('channels/1/conversations/17/messages/m1')).toEqual(conversation);
  });

  test.each([
    '17',
    'conversations/17',
    'channels/1/conversations/',
    'channels//conversations/17',
    'channels/../conversations/17',
    'channels/1/conversations/..',
    'channels/1/conversations/17/messages',
    'channels/1/messages/17',
    'orders/1/conversations/17',
  ])('returns undefined for %s', (name) => {
    expect(conversationName(name)).toBeUndefined();
  });
});

test.each([
  ['channels/1/conversations/17/messages/m1', true],
  ['channels/1/conversations/17/messages/..', false],
  ['channels/1/conversations/17/messages', false],
  ['channels/1/conversations/17/messages/m1/m2', false],
  ['channels/../conversations/17/messages/m1', false],
  ['channels/1/conversations/17/orders/m1', false],
  ['messages/m1', false],
])('isNameFor("messages", "%s") is %s', (name, expected) => {
  expect(isNameFor('messages', name)).toBe(expected);
  expect(messageConversation(name) !== undefined).toBe(expected);
});
