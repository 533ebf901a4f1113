import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const sandbox = await startSeededSandbox();
const { ask, changeAnswer, ...waybill } = await startWaybill({}, { sandbox });
beforeEach(() => sandbox.requests.clear());
afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await waybill[Symbol.asyncDispose]();
  await sandbox.close();
});

const order = '/v1/orders/ca2481';
const shipment = '/v1/shipments/ca2036';

describe('a time of the REST service', () => {
  test.each([
    ['2026-01-15T10:30:00.123+0000', '2026-01-15T10:30:00.123+00:00'],
    ['2026-01-15T10:30:00+00', '2026-01-15T10:30:00+00:00'],
    ['20260115T103000Z', '2026-01-15T10:30:00Z'],
    ['2026-01-15 10:30:00.123456-05', '2026-01-15T10:30:00.123456-05:00'],
    ['2026-01-15T10:30:00.123456789Z', '2026-01-15T10:30:00.123456789Z'],
    ['2026-01-15t10:30:00z', '2026-01-15T10:30:00Z'],
  ])('is sent on as RFC 3339: %s', async (time, written) => {
    changeAnswer(order, { createTime: time, updateTime: time });
    changeAnswer(shipment, { createTime: time });
    const { data, errors, calls } = await ask(
      '{ order(id: "ca2481") { createTime updateTime } shipment(id: "ca2036") { createTime } }',
    );
    expect({ data, errors }).toEqual({
      data: { order: { createTime: written, updateTime: written }, shipment: { createTime: written } },
      errors: undefined,
    });
    expect(calls.sort()).toEqual([`GET ${order}`, `GET ${shipment}`]);
  });

  test.each([
    '2026-01-15T10:30:00',
    '20260115T103000',
    '2026-02-30T10:30:00Z',
    '2026-01-15T24:00:00Z',
    'soon',
  ])('causes an error at its field if it is incomplete or impossible: %s', async (time) => {
    changeAnswer(order, { createTime: time });
    changeAnswer(shipment, { createTime: time, updateTime: '2026-01-15T10:30:00+0000' });
    const { data, errors } = await ask(
      '{ order(id: "ca2481") { createTime } shipment(id: "ca2036") { createTime updateTime } }',
    );
    expect(data).toEqual({
      order: null,
      shipment: { createTime: null, updateTime: '2026-01-15T10:30:00+00:00' },
    });
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort()).toEqual([
      ['order.createTime', 'UPSTREAM_INVALID_RESPONSE'],
      ['shipment.createTime', 'UPSTREAM_INVALID_RESPONSE'],
    ]);
  });

  test.each<[string, string, object, object]>([
    ['shipment', shipment, { createTime: '' }, { createTime: null }],
    ['shipment', shipment, { updateTime: '' }, { updateTime: null }],
    ['quote', '/v1/quotes/ca2139', { createTime: '' }, { createTime: null }],
  ])('is null without an error if it is optional and empty: %s %s %j', async (field, path, sent, shown) => {
    changeAnswer(path, sent);
    const id = path.split('/').at(-1);
    const { data, errors } = await ask(`{ ${field}(id: "${id}") { ${Object.keys(sent)[0]} } }`);
    expect({ data, errors }).toEqual({ data: { [field]: shown }, errors: undefined });
  });
});

describe('a time of a client', () => {
  test.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-15T25:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-15T10:30:00',
    '2026-01-15T10:30:00+0000',
    '',
  ])('is refused without a call: %j', async (time) => {
    const message = `Expected a date and time in RFC 3339 form, such as "2026-11-02T14:05:00Z", but got ${JSON.stringify(time)}.`;
    const query = 'query ($time: DateTime) { orders(createdSince: $time) { nodes { id } } }';
    const byVariable = await ask(query, { time });
    const byLiteral = await ask(`{ orders(createdSince: "${time}") { nodes { id } } }`);
    for (const { data, errors, calls } of [byVariable, byLiteral]) {
      expect([data, calls]).toEqual([undefined, []]);
      expect(errors).toMatchObject([
        { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
  });

  test.each(['2024-02-29T00:00:00Z', '2026-01-15T10:30:00.123456789+05:30', '2026-01-15t10:30:00z'])(
    'is accepted: %s',
    async (time) => {
      const query = 'query ($time: DateTime) { orders(createdUntil: $time, first: 1) { nodes { id } } }';
      const { errors, calls } = await ask(query, { time });
      expect(errors).toBeUndefined();
      expect(calls.length).toBeGreaterThan(0);
    },
  );
});

describe('a filter of time', () => {
  // One minute apart, each in another form. The times without a zone and with a day that does not exist match no filter.
  const times = [
    '2026-01-15T05:34:00.000-0500',
    '20260115T103300Z',
    '2026-01-15 10:32:00+00',
    '2026-01-15T10:31Z',
    '2026-01-15T10:30:00Z',
    '2026-01-15T10:33:00',
    '2026-02-30T10:33:00Z',
  ];

  test.each([
    ['orders', 'GET /v1/orders?pageSize=100'],
    ['shipments', 'GET /v1/shipments?pageSize=100'],
  ])('reads all forms of times in %s', async (list, call) => {
    const rows = times.map((createTime, index) => ({
      name: `${list}/${index}`,
      status: 'DELIVERED',
      createTime,
    }));
    await using app = await startApp(answerJson({ [list]: rows, nextPageToken: '' }));
    const range = 'createdSince: "2026-01-15T10:31:00Z", createdUntil: "2026-01-15T05:33:00-05:00"';
    const { data, errors } = await app.ask(`{ ${list}(${range}) { nodes { id } } }`);
    expect({ data, errors, calls: app.calls() }).toEqual({
      data: { [list]: { nodes: [1, 2, 3].map((index) => ({ id: `${list}/${index}` })) } },
      errors: undefined,
      calls: [call],
    });
  });
});
