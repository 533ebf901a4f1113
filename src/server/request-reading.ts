import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Mends how Yoga reads requests: media types match in any case and with blanks around them, as in HTTP, and parameters
 * of a URL or form that are no JSON are the client's mistake, not this server's.
 */
export function requestReading(): Plugin {
  return {
    onRequest({ request: { headers } }) {
      const given = headers.get('content-type');
      const mended = given?.replace(/^[^;,]*/, (mediaType) => mediaType.trim().toLowerCase());
      if (mended !== undefined && mended !== given) headers.set('content-type', mended);
    },
    onRequestParse({ requestParser, setRequestParser }) {
      if (requestParser === undefined) return;
      setRequestParser(async (request) => {
        try {
          return await requestParser(request);
        } catch (error) {
          // Of a body of JSON Yoga says so itself.
          if (!(error instanceof SyntaxError)) throw error;
          throw new GraphQLError('The parameters "variables" and "extensions" must be JSON.', {
            extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
          });
        }
      });
    },
  };
}
