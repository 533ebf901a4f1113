import '../node-runtime.ts';

// The process of a worker. The rest is loaded only now, when compiled code is kept.
await import('./worker.ts');
