import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { until } from '../fixtures/rest-service.ts';
import { startCommand } from '../fixtures/shell-command.ts';
import { type Instruction, readContainerConfig, readStages, type Stage } from './dockerfile.ts';

const root = resolve(import.meta.dirname, '../..');
const container = readContainerConfig();

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** Why this machine cannot start a program with another root folder and as another user. Undefined if it can. */
export function whyNoContainer(): string | undefined {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'only root may start a program as another user in another root folder';
  return undefined;
}

/** The files of the image, replayed from the Dockerfile in a folder without Docker. */
export interface ReplayedImage {
  /** The folder that is the root of the containers. */
  folder: string;
  /** Starts a container: its user can write to the volume alone. `command` replaces CMD. */
  run(environment: Record<string, string>, command?: string[]): Container;
  /** Runs the health check of the image. Returns its exit code. */
  checkHealth(environment: Record<string, string>): Promise<number | null | undefined>;
  /** The paths that the user of the image can write. */
  writablePaths(): string[];
  remove(): void;
}

type Container = ReturnType<typeof startContainer>;

/**
 * Does what the Dockerfile says. RUN gets the programs of this machine, so it may name relative paths only. The last
 * stage gets Node as the only program, with its libraries, like the image that it is made from.
 */
export async function replayImage(): Promise<ReplayedImage> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-image-'));
  chmodSync(folder, 0o755);
  const context = join(folder, 'context');
  for (const name of allowedByDockerignore())
    cpSync(join(root, name), join(context, name), { recursive: true });
  const stages = readStages();
  for (const stage of stages) await replayStage(stage, folder, context);
  const rootFolder = stageFolder(folder, stages.at(-1));
  copyNode(rootFolder);
  // Docker gives this device to each container. Only reads of it need to work here.
  mkdirSync(join(rootFolder, 'dev'));
  writeFileSync(join(rootFolder, 'dev/null'), '');

  return {
    folder: rootFolder,
    run: (environment, command = container.command) =>
      startContainer(rootFolder, [...container.entrypoint, ...command], environment),
    async checkHealth(environment) {
      const { code } = await startContainer(rootFolder, container.healthCheck, environment).exit;
      return code;
    },
    writablePaths() {
      const found = execFileSync('find', [rootFolder, '-writable', '-not', '-type', 'l'], {
        uid: container.userId,
        gid: container.groupId,
        encoding: 'utf8',
      });
      return found
        .split('\n')
        .filter((path) => path !== '')
        .map((path) => path.slice(rootFolder.length));
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** The names in .dockerignore that are sent to Docker. @throws if it does not begin by leaving out everything. */
function allowedByDockerignore(): string[] {
  const [first, ...others] = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || !others.every((line) => /^![\w.-]+$/.test(line))) {
    throw new Error('.dockerignore must have a line "*", and then names with "!".');
  }
  return others.map((line) => line.slice(1));
}

function stageFolder(folder: string, stage: Stage | undefined): string {
  return join(folder, stage?.name ?? 'image');
}

async function replayStage(stage: Stage, folder: string, context: string): Promise<void> {
  const stageRoot = stageFolder(folder, stage);
  let workingDirectory = '/';
  for (const instruction of stage.instructions) {
    const cwd = join(stageRoot, workingDirectory);
    if (instruction.name === 'WORKDIR') {
      workingDirectory = resolve(workingDirectory, instruction.arguments);
      mkdirSync(join(stageRoot, workingDirectory), { recursive: true });
    } else if (instruction.name === 'COPY') {
      const { from } = instruction.options;
      copy(instruction, from === undefined ? context : join(folder, from), stageRoot, workingDirectory);
    } else if (instruction.name === 'RUN') {
      await runInFolder(instruction.arguments, cwd);
    } else if (!/^(?:USER|ENV|VOLUME|EXPOSE|HEALTHCHECK|ENTRYPOINT|CMD)$/.test(instruction.name)) {
      throw new Error(`The test does not know the instruction ${instruction.name} of the Dockerfile.`);
    }
  }
}

function copy(instruction: Instruction, from: string, stageRoot: string, workingDirectory: string): void {
  const names = instruction.arguments.split(' ');
  const target = names.pop() ?? '';
  for (const name of names) {
    const path = join(resolve(workingDirectory, target), target.endsWith('/') ? basename(name) : '');
    const copied = join(stageRoot, path);
    mkdirSync(dirname(copied), { recursive: true });
    // Nothing reads an earlier stage again, so its files are moved.
    if (instruction.options.from === undefined) cpSync(join(from, name), copied, { recursive: true });
    else renameSync(join(from, name), copied);
    const [userId, groupId] = instruction.options.chown?.split(':').map(Number) ?? [];
    if (userId !== undefined && groupId !== undefined) chownSync(copied, userId, groupId);
  }
}

/** Runs a line of RUN. @throws with its output if it fails. */
async function runInFolder(line: string, cwd: string): Promise<void> {
  // The packages are in npm's cache since the install of this checkout.
  const ofNpm = Object.entries(process.env).filter(([name]) =>
    /^npm_config_(?:cache|registry|userconfig)$/.test(name),
  );
  const quiet = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  const end = await startCommand(line, cwd, { ...Object.fromEntries(ofNpm), ...quiet }).exit;
  if (end.code !== 0) throw new Error(`"${line}" ended: ${JSON.stringify(end)}`);
}

/** Copies this Node to its path in the image, and the libraries that it names. */
function copyNode(rootFolder: string): void {
  const [path = ''] = container.entrypoint;
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const files = [[process.execPath, path], ...libraries.map((library) => [library, library])];
  for (const [from = '', to = ''] of files) {
    const copied = join(rootFolder, to);
    mkdirSync(dirname(copied), { recursive: true });
    copyFileSync(from, copied);
    chmodSync(copied, 0o755);
  }
}

function startContainer(rootFolder: string, command: string[], environment: Record<string, string>) {
  const directory =
    readStages()
      .at(-1)
      ?.instructions.findLast(({ name }) => name === 'WORKDIR')?.arguments ?? '';
  const child = spawn(
    'nsenter',
    [
      `--root=${rootFolder}`,
      `--wd=${join(rootFolder, directory)}`,
      `--setuid=${container.userId}`,
      `--setgid=${container.groupId}`,
      '--',
      ...command,
    ],
    {
      env: { PATH: process.env.PATH, ...container.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.add(child);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const errors = text(child.stderr);
  const exit = once(child, 'close').then(async ([code]: (number | null)[]) => {
    running.delete(child);
    return { code, output, errors: await errors };
  });
  return {
    exit,
    /** Waits for the banner, and returns the address in it. @throws if the container ends first. */
    async url(): Promise<URL> {
      await Promise.race([
        until(() => output.includes(" -d '")),
        exit.then((end) => Promise.reject(new Error(`it ended: ${JSON.stringify(end)}`))),
      ]);
      return new URL(/http:\/\/[^/]+/.exec(output)?.[0] ?? '');
    },
    /** Ends the container like `docker stop`. */
    stop() {
      child.kill('SIGTERM');
      return exit;
    },
  };
}
