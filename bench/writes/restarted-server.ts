import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startNode } from '../server-process.ts';

/** A Waybill process that is killed, stopped and restarted. */
export interface RestartedServer {
  /** The address of the process, as soon as it listens. */
  url(): Promise<string>;
  /** Kills the process without a warning, and starts the next one, by default with the same settings. */
  restart(settings?: Record<string, string>): Promise<void>;
  /** Lets the process stand still for this time, and then go on. */
  standStill(ms: number): Promise<void>;
  end(): Promise<void>;
}

/** Starts Waybill with these settings, and with no other. @throws Error if it does not listen within 30 seconds. */
export async function startRestarted(settings: Record<string, string>): Promise<RestartedServer> {
  let child: ChildProcess;
  let listening = Promise.withResolvers<string>();

  async function start(environment: Record<string, string>): Promise<void> {
    const started = startNode(['src/start.cjs'], {
      core: undefined,
      cwd: resolve(import.meta.dirname, '../..'),
      env: { PORT: '0', DRAIN_WAIT_MS: '0', LOG_LEVEL: 'silent', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    let output = '';
    let url: string | undefined;
    started.stdout?.on('data', (chunk) => {
      output += chunk;
      url ??= /http:\/\/[^/]+/.exec(output)?.[0];
    });
    for (let waitedMs = 0; url === undefined; waitedMs += 20) {
      if (started.exitCode !== null || waitedMs > 30_000)
        throw new Error(`Waybill does not listen: ${output}`);
      await pause(20);
    }
    listening.resolve(url);
  }

  async function kill(): Promise<void> {
    listening = Promise.withResolvers();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  await start(settings);
  return {
    url: () => listening.promise,
    async restart(environment = settings) {
      await kill();
      await start(environment);
    },
    async standStill(ms) {
      child.kill('SIGSTOP');
      await pause(ms);
      child.kill('SIGCONT');
    },
    end: kill,
  };
}
