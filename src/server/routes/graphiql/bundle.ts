/**
 * The worker thread of `readBundle`. The package contains GraphiQL as strings in one module of 9 MB. Loading the
 * module takes a sixth of a second of CPU time and about 40 MB. The worker does not block the main thread, and its
 * memory is freed when the worker ends.
 */
import { parentPort } from 'node:worker_threads';
import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from '@graphql-yoga/render-graphiql/graphiql';

const encoder = new TextEncoder();
const files = {
  app: encoder.encode(js),
  style: encoder.encode(css),
  editorWorker: encoder.encode(editorWorkerService),
  graphqlWorker: encoder.encode(graphqlWorker),
  jsonWorker: encoder.encode(jsonWorker),
};

/** The files of GraphiQL that the worker posts, by purpose. */
export type GraphiqlFiles = typeof files;

parentPort?.postMessage(
  files,
  Object.values(files).map((bytes) => bytes.buffer),
);
