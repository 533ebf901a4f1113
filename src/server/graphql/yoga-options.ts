import type { YogaServerOptions } from 'graphql-yoga';

/** The parts of Yoga that this server has itself, or does not serve. */
export const yogaOptions = {
  // recordedRequests masks errors.
  maskedErrors: false,
  // Yoga's GraphiQL and landing page load scripts from other origins.
  graphiql: false,
  landingPage: false,
  // Disables Yoga's health check, which responds to every URL that ends with this text. No URL ends with a space.
  healthCheckEndpoint: ' ',
  multipart: false,
  cors: false,
  logging: false,
  // readYogaRequest limits the body size, at a fraction of the cost of Yoga's limit.
  maxRequestBodySize: false,
  // cachedDocuments replaces Yoga's cache and limits the cache size in bytes.
  parserAndValidationCache: false,
} satisfies YogaServerOptions<object, object>;
