import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Converts the body of a REST response into a response body. If REST's body breaks off, the client's connection
 * breaks off too. So the client cannot mistake a partial file for a complete one.
 *
 * Yoga's adapter never ends a response whose body fails. If a failed body is cancelled, the whole process ends. So the
 * returned stream never fails: Node's response is destroyed instead.
 */
export function streamedBody(body: Readable, response: ServerResponse): ReadableStream {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        response.destroy();
      }
    },
    cancel: () => {
      body.on('error', () => {}).destroy();
    },
  });
}
