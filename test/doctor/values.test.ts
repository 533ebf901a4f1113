import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { examine, type Report } from '../../src/doctor/examine.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startService } from '../fixtures/rest-service.ts';
import { trimmedSeed } from '../fixtures/trimmed-seed.ts';

// The doctor reads values by the rules of the graph.

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ seed: trimmedSeed });
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.faults.clear());

/** Examines the sandbox, which changes the time of creation of each order. */
async function examineWithTimes(toForm: (time: string) => unknown): Promise<Report> {
  sandbox.faults.add({
    kind: 'change',
    path: /^\/v1\/orders(\/|$)/,
    change(answer) {
      const edit = (order: unknown) => {
        const { createTime } = Object(order);
        return createTime === undefined ? order : { ...Object(order), createTime: toForm(createTime) };
      };
      const { orders } = Object(answer);
      return Array.isArray(orders) ? { ...Object(answer), orders: orders.map(edit) } : edit(answer);
    },
  });
  return examine({ url: new URL(sandbox.url), token: sandbox.tokens.first, spacingMs: 0 });
}

const findingOf = ({ findings }: Report, check: string) =>
  findings.find((finding) => finding.check === check);

describe('the doctor', () => {
  test.each<[string, (time: string) => string]>([
    ['+0000', (time) => time.replace('Z', '+0000')],
    ['+00', (time) => time.replace('Z', '+00').replace('T', ' ')],
    ['the basic form', (time) => time.replace(/\.\d+/, '').replace(/[-:]/g, '')],
  ])('accepts times with %s, and sees the order of the list', async (_form, toForm) => {
    const report = await examineWithTimes(toForm);
    expect(findingOf(report, 'fields of orders')).toMatchObject({ mark: 'ok' });
    expect(findingOf(report, 'order of lists')?.cause).toContain('newest first');
  });

  test.each<[string, (time: string) => unknown, RegExp]>([
    [
      'without a zone',
      (time) => time.replace('Z', ''),
      /^invalid value Order\.createTime \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\.$/,
    ],
    [
      'on 30 February',
      () => '2026-02-30T10:30:00Z',
      /^invalid value Order\.createTime 2026-02-30T10:30:00Z\.$/,
    ],
    ['that is a name', () => 'Lucía', /^invalid value Order\.createTime\.$/],
    ['that is empty', () => '', /^invalid value Order\.createTime\.$/],
  ])('warns of a time %s', async (_what, toForm, cause) => {
    const finding = findingOf(await examineWithTimes(toForm), 'fields of orders');
    expect(finding).toMatchObject({
      mark: 'warning',
      cause: expect.stringMatching(cause),
      remedy: expect.stringContaining('a time without a zone'),
    });
  });

  test.each([
    ['ISO-8859-1 without a charset', 'latin1', 'application/json', false],
    ['an unknown charset', 'utf8', 'application/json; charset=utf-9', false],
    ['ISO-8859-1 with its charset', 'latin1', 'application/json; charset=iso-8859-1', true],
    ['UTF-8', 'utf8', 'application/json', true],
  ] as const)('tells whether it can read %s', async (_what, encoding, contentType, isRead) => {
    const body = Buffer.from('{"orders":[{"name":"orders/1","notes":"Dejar en portería"}]}', encoding);
    await using service = await startService((request, response) => {
      const isOrders = request.url?.startsWith('/v1/orders') === true;
      response.writeHead(isOrders ? 200 : 404, { 'content-type': contentType }).end(isOrders ? body : '{}');
    });
    const report = await examine({ url: service.url, token: 'token', spacingMs: 0 });
    const finding = findingOf(report, 'address');
    if (isRead) expect(finding?.mark).toBe('ok');
    else
      expect(finding).toMatchObject({
        mark: 'failure',
        cause:
          'GET /v1/orders returned application/json that is not valid in its charset, by default UTF-8. A list of orders was expected.',
        remedy:
          'Ask the operator of the REST service to send JSON in UTF-8, or to name its charset in content-type.',
      });
  });
});
