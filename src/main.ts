import { readConfig } from './config/config.ts';
import { operatorErrorMessage } from './process/startup-errors.ts';

try {
  const config = readConfig(process.env);
  // Imported after the settings are read: their errors come without a delay.
  const { serve } = await import('./process/serve.ts');
  await serve(config);
} catch (error) {
  // An error of the operator is printed as one message. Any other error is a bug, and is printed with its stack
  // trace.
  console.error(operatorErrorMessage(error) ?? error);
  process.exit(1);
}
