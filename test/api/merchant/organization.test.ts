import { afterAll, afterEach, expect, test } from 'vitest';
import { AccountDocument } from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

test('a merchant whose balance is negative is a credit user', async () => {
  const { data, calls } = await ask(AccountDocument);
  expect(data).toEqual({
    organization: {
      id: 'organization/cafe-andino',
      balance: { cents: -18_423_500_000, currency: 'COP', formatted: '-$\u00a0184.235.000' },
      creditLimit: { cents: 50_000_000_000 },
      isCreditUser: true,
    },
  });
  expect(calls).toEqual(['GET /v1/organizations/mine']);
});

test('a merchant with a positive balance is not a credit user', async () => {
  const { data, calls } = await ask(AccountDocument, {}, sandbox.tokens.second);
  expect(data).toEqual({
    organization: {
      id: 'organization/sur-textil',
      balance: { cents: 9_645_000_000, currency: 'COP', formatted: '$\u00a096.450.000' },
      creditLimit: { cents: 0 },
      isCreditUser: false,
    },
  });
  expect(calls).toEqual(['GET /v1/organizations/mine']);
});

test('a merchant with a zero balance is not a credit user', async () => {
  const body = { name: 'organization/zero', balanceCents: 0, creditLimitCents: 1 };
  sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 200, body });
  const { data } = await ask('{ organization { balance { formatted } isCreditUser } }');
  expect(data).toEqual({ organization: { balance: { formatted: '$\u00a00' }, isCreditUser: false } });
});

test('the organization costs one call, however often it is selected', async () => {
  const { data, calls } = await ask(`{
    a: organization { id }
    b: organization { isCreditUser }
    c: node(id: "organization/cafe-andino") { id }
  }`);
  expect(data).toEqual({
    a: { id: 'organization/cafe-andino' },
    b: { isCreditUser: true },
    c: { id: 'organization/cafe-andino' },
  });
  expect(calls).toEqual(['GET /v1/organizations/mine']);
});

test.each(['balanceCents', 'creditLimitCents'])(
  'the organization is null with an error if %s is missing',
  async (field) => {
    const body = { name: 'organization/broken', balanceCents: 1, creditLimitCents: 1, [field]: undefined };
    sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 200, body });
    const { data, errors } = await ask('{ organization { id balance { cents } creditLimit { cents } } }');
    expect(data).toEqual({ organization: null });
    expect(errors).toMatchObject([
      {
        path: ['organization', field === 'balanceCents' ? 'balance' : 'creditLimit'],
        extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
      },
    ]);
  },
);

test.each([undefined, null, '-5', 0.5])(
  'the organization is null with an error if the balance is %j',
  async (balanceCents) => {
    const body = { name: 'organization/broken', balanceCents, creditLimitCents: 1 };
    sandbox.faults.add({ path: '/v1/organizations/mine', kind: 'status', status: 200, body });
    const { data, errors } = await ask('{ organization { id isCreditUser } }');
    expect(data).toEqual({ organization: null });
    expect(errors).toMatchObject([
      { path: ['organization', 'isCreditUser'], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
    ]);
  },
);
