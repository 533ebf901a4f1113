import '../src/node-runtime.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { createRestApi } from '../src/rest/api.ts';
import { createRestClient } from '../src/rest/client.ts';
import { createApp } from '../src/server/app.ts';
import { type FailingService, startFailingService } from './failing-service.ts';

// What REST sees and clients get while REST fails, and when all is well again. Ten tokens ask for one order each time, so
// that each operation is a demand for one call.

const operationsPerSecond = 100;
const tokens = Array.from({ length: 10 }, (_, index) => `token-${index}`);
const failingSeconds = Number(process.argv[2] ?? 60);
const recoverySeconds = 15;

interface Answered {
  isGood: boolean;
  /** When it was asked. */
  askedAt: number;
}

interface Failure {
  share: number;
  isSilent?: boolean;
}

async function run(failure: Failure, seconds: number): Promise<string> {
  const service = await startFailingService();
  const config = readConfig({});
  const client = createRestClient({ baseUrl: service.url, ...config.rest });
  const app = createApp({
    ...config.app,
    api: createRestApi(client, config.parameterNames),
    publicUrl: () => new URL('http://waybill.bench'),
    report: (error) => console.error(error),
  });
  let asked = 0;

  async function ask(): Promise<Answered> {
    asked += 1;
    const askedAt = performance.now();
    const response = await app.fetch('http://waybill.bench/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${tokens[asked % tokens.length]}`,
      },
      body: JSON.stringify({ query: `{ order(id: "${asked}") { fulfiller } }` }),
    });
    const { errors } = await response.json();
    return { isGood: errors === undefined, askedAt };
  }

  /** Asks for so many seconds; what is not answered by then still comes. */
  async function demand(forSeconds: number): Promise<Promise<Answered>[]> {
    const answers: Promise<Answered>[] = [];
    const beganAt = performance.now();
    while (performance.now() - beganAt < forSeconds * 1_000) {
      answers.push(ask());
      await pause(1_000 / operationsPerSecond);
    }
    return answers;
  }

  try {
    await demand(2);
    return line(failure, await measure(service, demand, failure, seconds));
  } finally {
    service.close();
    await client.close();
  }
}

interface Measured {
  load: number;
  good: number;
  recoveredAfterMs: number;
}

async function measure(
  service: FailingService,
  demand: (forSeconds: number) => Promise<Promise<Answered>[]>,
  { share, isSilent }: Failure,
  seconds: number,
): Promise<Measured> {
  service.requests();
  service.fail(share, isSilent);
  const asked = await demand(seconds);
  const requests = service.requests();
  service.fail(0);
  const recoveredAt = performance.now();
  const answersAfter = await Promise.all(await demand(recoverySeconds));
  const bad = answersAfter.filter(({ isGood }) => !isGood);
  const answers = await Promise.all(asked);
  return {
    load: requests / answers.length,
    good: answers.filter(({ isGood }) => isGood).length / answers.length,
    recoveredAfterMs: Math.max(0, ...bad.map(({ askedAt }) => askedAt - recoveredAt)),
  };
}

function line({ share, isSilent }: Failure, { load, good, recoveredAfterMs }: Measured): string {
  const cells = [
    `${share * 100} %${isSilent ? ', without an answer' : ''}`,
    load.toFixed(2),
    `${(good * 100).toFixed(1)} %`,
    `${(recoveredAfterMs / 1_000).toFixed(1)} s`,
  ];
  return `| ${cells.join(' | ')} |`;
}

console.log('| REST fails | calls it sees, times the demand | good answers | all good again after |');
console.log('| --- | --: | --: | --: |');
const failures: Failure[] = [{ share: 0.1 }, { share: 0.5 }, { share: 1 }, { share: 1, isSilent: true }];
// At the same time, so that all of it takes a minute and a quarter.
for (const row of await Promise.all(failures.map((failure) => run(failure, failingSeconds))))
  console.log(row);
