import { describe, expect, test, vi } from 'vitest';
import { LoopBudget } from '../../src/concurrency/event-loop-round.ts';
import { anonymousOwner } from '../../src/concurrency/owner.ts';
import { StepQueue } from '../../src/concurrency/step-queue.ts';

/** More nodes than may start before their promises have run: one step for each measurement. */
const heavy = 600;
const accepted = (token: object) => ({ token, connection: undefined });

/** Runs all promises, and then what waits for them. */
const settlePromises = () => new Promise<void>((resolve) => setTimeout(resolve));

/** A budget whose clock stands still, and steps that note their names. */
function createSteps() {
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const budget = new LoopBudget();
  const started: string[] = [];
  const step = (name: string) => () => void started.push(name);
  const settle = async () => {
    for (let round = 0; round < 3; round += 1) await settlePromises();
    return started;
  };
  return { budget, started, step, settle };
}

describe('steps in one queue', () => {
  test('start immediately if the queue is empty', () => {
    const { budget, started, step } = createSteps();
    new StepQueue('starting', budget).run(anonymousOwner({}), 10, step('one'));
    expect(started).toEqual(['one']);
  });

  test('alternate between owners', async () => {
    const { budget, step, settle } = createSteps();
    const queue = new StepQueue('starting', budget);
    const [first, second] = [accepted({}), accepted({})];
    for (const name of ['a1', 'a2', 'a3']) queue.run(first, heavy, step(name));
    for (const name of ['b1', 'b2']) queue.run(second, heavy, step(name));
    expect(await settle()).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  test('alternate between the connections of unaccepted tokens', async () => {
    const { budget, step, settle } = createSteps();
    const queue = new StepQueue('starting', budget);
    const [first, second] = [anonymousOwner({}), anonymousOwner({})];
    for (const name of ['a1', 'a2', 'a3']) queue.run(first, heavy, step(name));
    queue.run(second, heavy, step('b1'));
    queue.run(accepted({}), heavy, step('accepted'));
    expect(await settle()).toEqual(['a1', 'accepted', 'a2', 'b1', 'a3']);
  });
});

test('two queues of the same kind start their steps alternately', async () => {
  const { budget, step, settle } = createSteps();
  const [documents, bodies] = [new StepQueue('starting', budget), new StepQueue('starting', budget)];
  const owner = accepted({});
  for (const name of ['document 1', 'document 2', 'document 3']) documents.run(owner, heavy, step(name));
  for (const name of ['body 1', 'body 2']) bodies.run(owner, heavy, step(name));
  expect(await settle()).toEqual(['document 1', 'document 2', 'body 1', 'document 3', 'body 2']);
});

test('steps that end an operation run before steps that start an operation', async () => {
  const { budget, step, settle } = createSteps();
  const [documents, bodies] = [new StepQueue('starting', budget), new StepQueue('ending', budget)];
  const owner = accepted({});
  for (const name of ['document 1', 'document 2']) documents.run(owner, heavy, step(name));
  for (const name of ['body 1', 'body 2']) bodies.run(owner, heavy, step(name));
  expect(await settle()).toEqual(['document 1', 'body 1', 'body 2', 'document 2']);
});
