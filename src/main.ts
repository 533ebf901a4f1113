import './process/node-runtime.ts';
import { readConfig } from './config/config.ts';
import { operatorErrorMessage } from './process/startup-errors.ts';

try {
  const config = readConfig(process.env);
  // Each is loaded only where it is what runs.
  if (config.workers === 1) await import('./process/serve.ts').then(({ serve }) => serve(config));
  else await import('./process/cluster/primary.ts').then(({ runPrimary }) => runPrimary(config));
} catch (error) {
  // The operator's own mistakes are told plainly; anything else is ours, with its stack.
  console.error(operatorErrorMessage(error) ?? error);
  process.exit(1);
}
