import { operatorErrorMessage } from '../../src/process/startup-errors.ts';
import { buildDesk, startDesk } from './serve.ts';

// Starts the order desk with the server and its sandbox. Usage: npm run demo

const { PORT = '4000', DESK_PORT = '5173' } = process.env;
try {
  buildDesk(console.log);
  const desk = await startDesk(Number(DESK_PORT), Number(PORT));
  console.log(`
Desk      ${desk.url}
GraphiQL  ${desk.url}/graphql
REST      the sandbox at ${desk.sandbox.url}: invented data, gone at the end

Press Ctrl-C to end all of it.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => desk.close().finally(() => process.exit()));
} catch (error) {
  const message = error instanceof Error ? error.message : '';
  console.error(
    operatorErrorMessage(error) ??
      (/^Port \d+ is (?:already )?in use/.test(message)
        ? `DESK_PORT: port ${DESK_PORT} of 127.0.0.1 is in use. Stop the other process, or set DESK_PORT to another port.`
        : error),
  );
  process.exit(1);
}
