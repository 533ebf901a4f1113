import cluster from 'node:cluster';
import { type Config, readConfig } from './config/config.ts';
import { operatorErrorMessage } from './process/startup-errors.ts';

try {
  await run(readConfig(process.env));
} catch (error) {
  // An error of the operator is printed as one message. Any other error is a bug, and is printed with its stack
  // trace.
  console.error(operatorErrorMessage(error) ?? error);
  process.exit(1);
}

/** Imports only the code that runs. */
async function run(config: Config): Promise<void> {
  if (cluster.isWorker) {
    const { runWorker } = await import('./process/cluster/worker.ts');
    return runWorker(config);
  }
  const { serve } = await import('./process/serve.ts');
  const start =
    config.workers === 1
      ? await import('./process/single-process.ts').then(({ startSingleProcess }) => startSingleProcess)
      : await import('./process/cluster/primary.ts').then(({ startWorkers }) => startWorkers);
  await serve(config, start);
}
