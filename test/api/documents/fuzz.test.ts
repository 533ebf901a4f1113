import * as fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { sendRawRequest } from '../../fixtures/fuzz/answers.ts';
import { canaries, canaryIn, seedWithCanaries, type Who } from '../../fixtures/fuzz/canaries.ts';
import { cursorsFrom } from '../../fixtures/fuzz/cursors.ts';
import { brokenDocuments, soundDocuments } from '../../fixtures/fuzz/documents.ts';
import { faults } from '../../fixtures/fuzz/faults.ts';
import { type FuzzRequest, requestsFor } from '../../fixtures/fuzz/requests.ts';
import { judge } from '../../fixtures/fuzz/verdict.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { startWaybill } from '../../harness.ts';

// The gate tries the same requests each time: FUZZ_SEED=<number> or FUZZ_SEED=any tries others, and FUZZ_SECONDS=600 more.
const given = process.env.FUZZ_SEED ?? '20261121';
const seed = given === 'any' ? Date.now() % 2 ** 31 : Number(given);
const seconds = Number(process.env.FUZZ_SECONDS ?? 6);

const { log, text } = recordedLog('debug');
const telemetry = await startTelemetry({ metrics: true, tracing: false }, log);
const waybill = await startWaybill(
  { UPSTREAM_TIMEOUT_MS: '100', OPERATION_TIMEOUT_MS: '400' },
  // Slow requests are cut off soon, as the test waits for it.
  { log, telemetry, seed: seedWithCanaries, listener: { headersTimeoutMs: 500, requestTimeoutMs: 500 } },
);
const { sandbox } = waybill;

afterAll(async () => {
  await telemetry.close();
  await waybill[Symbol.asyncDispose]();
});

let outcomes: Record<string, number> = {};
beforeEach(() => {
  outcomes = {};
});
let readUpTo = 0;

async function holdsFor(request: FuzzRequest): Promise<void> {
  sandbox.requests.clear();
  const answer = await sendRawRequest(waybill, request.wire);
  const outcome = judge(request, answer, sandbox.requests.lines());
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  // What a query has begun and no longer needs may still be on its way.
  if (outcome !== 'refused') await new Promise((resolve) => setTimeout(resolve, 2));
  const written = text();
  expect(canaryIn(written.slice(readUpTo)), written.slice(readUpTo)).toBeUndefined();
  readUpTo = written.length;
}

async function metricsHoldNothing() {
  const page = await (await fetch(new URL('/metrics', waybill.url))).text();
  expect(page).toContain('waybill_operation_duration_seconds_count');
  expect(canaryIn(page)).toBeUndefined();
}

/** A cursor of `orders`, from a server that takes its time. */
async function endCursor(who: Who): Promise<string> {
  await using patient = await startWaybill({}, { sandbox });
  const query = '{ orders(first: 2) { pageInfo { endCursor } } }';
  const { data } = await patient.ask<{ orders: { pageInfo: { endCursor: string } } }, unknown>(
    query,
    {},
    canaries.token[who],
  );
  return data.orders.pageInfo.endCursor;
}

const cursors = cursorsFrom([await endCursor('first'), await endCursor('second')]);

describe(`random requests with FUZZ_SEED=${seed}`, () => {
  const parameters = { seed, numRuns: 1_000_000, interruptAfterTimeLimit: seconds * 1_000 };
  const timeout = (seconds + 60) * 1_000;

  test('cause no REST call and get no secrets if they are rejected', {
    timeout,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(requestsFor(brokenDocuments(cursors), { sound: 25 }), holdsFor),
      parameters,
    );
    await metricsHoldNothing();
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['data', 'data with errors', 'refused']));
  });

  test('get responses without secrets under any REST fault', { timeout }, async () => {
    const requests = requestsFor(soundDocuments(cursors), { sound: 400 });
    const property = fc.asyncProperty(requests, faults, async (request, planned) => {
      for (const fault of planned) sandbox.faults.add(fault);
      try {
        await holdsFor(request);
      } finally {
        sandbox.faults.clear();
      }
    });
    await fc.assert(property, parameters);
    await metricsHoldNothing();
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['data', 'data with errors', 'refused']));
  });
});
