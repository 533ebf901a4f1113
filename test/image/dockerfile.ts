import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** A line of a Dockerfile, such as `COPY --from=build /data /data`. */
export interface Instruction {
  name: string;
  /** The options before the arguments, such as `from` of `--from=build`. */
  options: Record<string, string>;
  arguments: string;
}

/** A stage of a Dockerfile. */
export interface Stage {
  image: string;
  /** The name after AS. */
  name: string | undefined;
  instructions: Instruction[];
}

/** What the last stage says about its container. */
export interface ContainerConfig {
  /** The arguments of ENTRYPOINT, and then of CMD. */
  entrypoint: string[];
  command: string[];
  healthCheck: string[];
  environment: Record<string, string>;
  volume: string;
  port: number;
  userId: number;
  groupId: number;
}

/** Reads the stages of the Dockerfile. */
export function readStages(): Stage[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  for (const instruction of lines.map(parseInstruction)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.arguments.split(' ');
      stages.push({ image, name, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push(instruction);
    }
  }
  return stages;
}

/** Reads what the last stage says about its container. @throws if it lacks one of the instructions. */
export function readContainerConfig(): ContainerConfig {
  const instructions = readStages().at(-1)?.instructions ?? [];
  const argumentsOf = (name: string) => {
    const found = instructions.findLast((instruction) => instruction.name === name);
    if (found === undefined) throw new Error(`The last stage of the Dockerfile has no ${name}.`);
    return found.arguments;
  };
  const [userId, groupId] = argumentsOf('USER').split(':').map(Number);
  if (!userId || !groupId) throw new Error('USER needs numbers that are not 0, such as 65532:65532.');
  return {
    entrypoint: JSON.parse(argumentsOf('ENTRYPOINT')),
    command: JSON.parse(argumentsOf('CMD')),
    healthCheck: JSON.parse(argumentsOf('HEALTHCHECK').replace(/^CMD /, '')),
    environment: Object.fromEntries(
      argumentsOf('ENV')
        .split(' ')
        .map((setting) => setting.split('=')),
    ),
    volume: argumentsOf('VOLUME'),
    port: Number(argumentsOf('EXPOSE')),
    userId,
    groupId,
  };
}

function parseInstruction(line: string): Instruction {
  const [, name = '', flags = '', rest = ''] = /^([A-Z]+)((?: +--[\w-]+=\S+)*) +(.*)$/.exec(line) ?? [];
  const options = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, option = '', value = '']) => [
    option,
    value,
  ]);
  return { name, options: Object.fromEntries(options), arguments: rest.trim() };
}
