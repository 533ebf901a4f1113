import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * REST's body as a response's. Where it breaks off after the headers are out, nothing can be said any more but by
 * breaking off too, so that no client takes a part for the whole.
 *
 * Yoga's adapter leaves a response open whose body fails, and lets the whole process end when a body that has failed is
 * cancelled. So behind a Node server the body itself never fails: the response is ended instead.
 * @param response Node's response; undefined where there is none, and the body is read by a caller of `fetch`.
 */
export function streamedBody(body: Readable, response: ServerResponse | undefined): ReadableStream {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (response === undefined) controller.error(error);
        else response.destroy();
      }
    },
    cancel: () => {
      body.on('error', () => {}).destroy();
    },
  });
}
