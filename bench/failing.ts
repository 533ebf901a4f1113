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
const recoverySeconds = 12;

interface Answered {
  isGood: boolean;
  /** When it was asked. */
  askedAt: number;
}

async function run(failingShare: number, seconds: number): Promise<string> {
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

  async function demand(forSeconds: number): Promise<Answered[]> {
    const answers: Promise<Answered>[] = [];
    const beganAt = performance.now();
    while (performance.now() - beganAt < forSeconds * 1_000) {
      answers.push(ask());
      await pause(1_000 / operationsPerSecond);
    }
    return Promise.all(answers);
  }

  try {
    await demand(2);
    return line(failingShare, await measure(service, demand, failingShare, seconds));
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
  demand: (forSeconds: number) => Promise<Answered[]>,
  failingShare: number,
  seconds: number,
): Promise<Measured> {
  service.requests();
  service.fail(failingShare);
  const answers = await demand(seconds);
  const requests = service.requests();
  service.fail(0);
  const recoveredAt = performance.now();
  const bad = (await demand(recoverySeconds)).filter(({ isGood }) => !isGood);
  return {
    load: requests / answers.length,
    good: answers.filter(({ isGood }) => isGood).length / answers.length,
    recoveredAfterMs: Math.max(0, ...bad.map(({ askedAt }) => askedAt - recoveredAt)),
  };
}

function line(failingShare: number, { load, good, recoveredAfterMs }: Measured): string {
  const cells = [
    `${failingShare * 100} %`,
    load.toFixed(2),
    `${(good * 100).toFixed(1)} %`,
    `${(recoveredAfterMs / 1_000).toFixed(1)} s`,
  ];
  return `| ${cells.join(' | ')} |`;
}

console.log('| REST fails | calls it sees, times the demand | good answers | all good again after |');
console.log('| --- | --: | --: | --: |');
// At the same time, so that all of it takes a minute and a quarter.
for (const row of await Promise.all([0.1, 0.5, 1].map((share) => run(share, failingSeconds))))
  console.log(row);
