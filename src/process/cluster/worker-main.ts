import '../node-runtime.ts';

// The entry point of a worker process. Imported after node-runtime.ts, so that the compile cache holds all further
// modules.
await import('./worker.ts');
