/**
 * Runs in a worker thread of `readBundle`. The package keeps GraphiQL as strings in one module of 9 MB: reading it takes
 * a sixth of a second of CPU and some 40 MB, which the serving thread is spared this way and the process gets back.
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

/** The files of GraphiQL as the worker posts them, by what they are for. */
export type GraphiqlFiles = typeof files;

parentPort?.postMessage(
  files,
  Object.values(files).map((bytes) => bytes.buffer),
);
