import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Answer, answerJson, answerText, startService } from '../../fixtures/rest-service.ts';

const order = answerJson({ name: 'orders/7' });

// A closure that generates, or one that becomes a property, is old from the start in V8, and whatever it knows of with it.
describe('next to nothing that a call knew of stays behind until all garbage is collected', () => {
  test.each<[kind: string, answer: Answer]>([
    ['read', order],
    ['write', order],
    ['label', answerText('%PDF', 200, 'application/pdf')],
  ])('a %s', async (kind, answer) => {
    await using service = await startService(answer);
    const script = new URL('../../fixtures/kept-calls.ts', import.meta.url).pathname;
    const given = ['--no-allocation-site-pretenuring', script, service.url.href, kind];
    const run = await promisify(execFile)(process.execPath, given, {
      timeout: 30_000,
    });
    const { scavenges, bytesPerCall } = JSON.parse(run.stdout);
    expect(scavenges).toBeGreaterThan(3);
    expect(bytesPerCall).toBeLessThan(1_000);
  });
});
