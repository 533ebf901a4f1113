/** How a stream is written: its media type, and the text around each event. */
export interface Transport {
  readonly name: 'sse' | 'multipart';
  readonly contentType: string;
  /** Sent at once, so that proxies send the head on. */
  readonly opening: string;
  readonly heartbeat: string;
  /** Tells clients that nothing follows, and that they shall not come again. */
  readonly completion: string;
  /** @param json the response of GraphQL, in one line */
  frame(json: string): string;
}

/** GraphQL over SSE, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */
const sse: Transport = {
  name: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  opening: ':\n\n',
  heartbeat: ':\n\n',
  completion: 'event: complete\ndata:\n\n',
  frame: (json) => `event: next\ndata: ${json}\n\n`,
};

// Clients read a part when its boundary has come, so each part ends with that of the next one.
const boundary = '\r\n--graphql';
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${boundary}`;

/** https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
const multipart: Transport = {
  name: 'multipart',
  contentType: 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0',
  opening: `${boundary}${part('{}')}`,
  heartbeat: part('{}'),
  completion: '--\r\n',
  frame: (json) => part(`{"payload":${json}}`),
};

/** The headers of a stream, as names and values in turn. No part of the way may hold events back, or change them. */
export function streamHeaders({ contentType }: Transport): string[] {
  return ['content-type', contentType, 'x-accel-buffering', 'no'];
}

/** The transport of a stream, and whether the client prefers a stream to JSON, as clients of streams alone do. */
export interface AcceptedStream {
  transport: Transport;
  isPreferred: boolean;
}

/**
 * What an element of `accept`, in lower case, names: the transport of a stream, or undefined for JSON. Apollo's plain
 * `multipart/mixed` is for `@defer`, and names neither.
 */
const transportsByRange: readonly [range: RegExp, transport: Transport | undefined][] = [
  [/^text\/(?:event-stream|\*)\s*(?:;|$)/, sse],
  [/^multipart\/mixed\s*;.*\bsubscriptionspec\s*=\s*"?1\.0\b/, multipart],
  [/^application\/(?:json|graphql-response\+json|\*)\s*(?:;|$)/, undefined],
];

/**
 * The transport that an `accept` asks for: of equal weights the first one. A client that accepts anything gets SSE.
 * @returns undefined for a client that accepts no stream
 */
export function acceptedStream(accept: string | null | undefined): AcceptedStream | undefined {
  if (!accept) return { transport: sse, isPreferred: false };
  const ranges = accept
    .toLowerCase()
    .split(',')
    .flatMap((element, index) => {
      const text = element.trim();
      const weight = Number(/;\s*q\s*=\s*([\d.]+)/.exec(text)?.[1] ?? 1);
      const found = transportsByRange.find(([range]) => range.test(text));
      const isAny = /^\*\/\*\s*(?:;|$)/.test(text);
      const isUsable = weight > 0 && (found !== undefined || isAny);
      if (!isUsable) return [];
      const named = found?.[1];
      // `*/*` accepts a stream, but does not prefer one.
      const transport = named ?? (isAny ? sse : undefined);
      return [{ transport, namesStream: named !== undefined, weight, index }];
    });
  ranges.sort((one, other) => other.weight - one.weight || one.index - other.index);
  const chosen = ranges.find(({ namesStream }) => namesStream) ?? ranges.find((range) => range.transport);
  const transport = chosen?.transport;
  return transport && { transport, isPreferred: ranges[0]?.namesStream === true };
}
