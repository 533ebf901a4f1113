import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Answer, answerJson, answerText, startService } from '../../fixtures/rest-service.ts';

const order = answerJson({ name: 'orders/7' });

// V8 may allocate generator objects and closures in properties directly in the old space, with all variables in their
// scope.
describe('the old space of V8', () => {
  test.each<[kind: string, answer: Answer]>([
    ['read', order],
    ['write', order],
    ['label', answerText('%PDF', 200, 'application/pdf')],
  ])('grows by less than 1,000 bytes per finished %s', async (kind, answer) => {
    await using service = await startService(answer);
    const script = new URL('../../fixtures/old-space-per-call.ts', import.meta.url).pathname;
    const scriptArguments = ['--no-allocation-site-pretenuring', script, service.url.href, kind];
    const run = await promisify(execFile)(process.execPath, scriptArguments, {
      timeout: 90_000,
    });
    const { scavenges, bytesPerCall } = JSON.parse(run.stdout);
    expect(scavenges).toBeGreaterThan(3);
    expect(bytesPerCall).toBeLessThan(1_000);
  });
});
