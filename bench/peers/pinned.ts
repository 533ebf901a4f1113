import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpus } from 'node:os';

// Which core a process runs on. Where there is no `taskset` or but one core, processes run where they will.

const canPin = cpus().length > 1 && hasTaskset();

/** For the table: how servers and load share the machine. */
export const sharing = canPin
  ? 'the server on one core, load and REST on the other'
  : 'not pinned to cores, so that load, REST and server disturb each other';

/** Starts Node with these arguments on a core. Its errors are seen, its output is not. */
export function startPinned(
  core: number,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  channel: 'ipc' | 'ignore' = 'ignore',
  cwd = process.cwd(),
): ChildProcess {
  const [command = '', ...rest] = [
    ...(canPin ? ['taskset', '-c', String(core)] : []),
    process.execPath,
    ...args,
  ];
  const child = spawn(command, rest, { env, cwd, stdio: ['ignore', 'ignore', 'inherit', channel] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

/** No process that was started outlives this one, however it is ended. */
export function endWithChildren(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

/** Moves this process to a core. */
export function pinThis(core: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
