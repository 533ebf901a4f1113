import './process/node-runtime.ts';
import { readConfig } from './config/config.ts';
import { operatorErrorMessage } from './process/startup-errors.ts';

try {
  const config = readConfig(process.env);
  // Only the code that runs is loaded.
  if (config.workers === 1) await import('./process/single-process.ts').then(({ serve }) => serve(config));
  else await import('./process/cluster/primary.ts').then(({ runPrimary }) => runPrimary(config));
} catch (error) {
  // An error of the operator is printed as one message. Any other error is a bug, and is printed with its stack
  // trace.
  console.error(operatorErrorMessage(error) ?? error);
  process.exit(1);
}
