import { describe, expect, test } from 'vitest';
import { acceptedStream } from '../../../src/server/live/transport.ts';

describe('the transport of a stream', () => {
  test.each([
    ['graphql-sse', 'text/event-stream', 'sse', true],
    ['urql', 'text/event-stream, multipart/mixed', 'sse', true],
    [
      'urql, for a query',
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
      'sse',
      false,
    ],
    [
      'Apollo Client',
      'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9',
      'multipart',
      true,
    ],
    ['Apollo iOS', 'multipart/mixed;subscriptionSpec="1.0",application/json', 'multipart', true],
    [
      'Apollo Kotlin',
      'multipart/mixed;subscriptionSpec=1.0, application/graphql-response+json, application/json',
      'multipart',
      true,
    ],
    ['curl', '*/*', 'sse', false],
    ['no header', undefined, 'sse', false],
    ['JSON first by weight', 'text/event-stream;q=0.5, application/json', 'sse', false],
    [
      'multipart first by weight',
      'text/event-stream;q=0.5, multipart/mixed;subscriptionSpec=1.0',
      'multipart',
      true,
    ],
  ])('is chosen by the Accept header: %s', (_client, accept, name, isPreferred) => {
    const accepted = acceptedStream(accept);
    expect({ name: accepted?.transport.name, isPreferred: accepted?.isPreferred }).toEqual({
      name,
      isPreferred,
    });
  });

  test.each([
    ['JSON', 'application/json'],
    ['JSON of GraphQL', 'application/graphql-response+json, application/json;q=0.9'],
    ['multipart for @defer', 'multipart/mixed;incrementalSpec=v0.2,application/json'],
    ['a refused stream', 'text/event-stream;q=0, application/json'],
    ['HTML', 'text/html'],
  ])('does not exist for %s', (_what, accept) => {
    expect(acceptedStream(accept)).toBeUndefined();
  });
});
