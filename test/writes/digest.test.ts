import { describe, expect, test } from 'vitest';
import { createDigest, withoutDefaults } from '../../src/writes/digest.ts';
import { shipOrderDefaults } from '../../src/writes/ship-order-workflow.ts';
import type { KeyStore } from '../../src/writes/store/key-store.ts';
import { keyedMutation } from '../fixtures/keyed-mutations.ts';
import { memoryStore } from '../fixtures/memory-store.ts';
import { startWaybill } from '../harness.ts';

const secret = Buffer.from('a fixed secret of thirty-two byte');
const digest = createDigest(() => secret);

/** The digests under which a mutation claims its key, for an input with the key `a key`. */
async function claimOf(mutation: string, input: object) {
  const claims: { merchant: string; id: string; fingerprint: string }[] = [];
  const keyStore: KeyStore = {
    ...memoryStore,
    secret: () => secret,
    claim(key, fingerprint) {
      claims.push({ ...key, fingerprint });
      return memoryStore.claim(key, fingerprint);
    },
  };
  await using waybill = await startWaybill({ UPSTREAM_URL: 'sandbox' }, { keyStore });
  const { document } = keyedMutation(mutation);
  await waybill.ask(document, { input: { ...input, idempotencyKey: 'a key' } });
  // The later claims are of locks.
  return claims[0];
}

const recipient = {
  firstName: 'Inés',
  lastName: 'Ruiz',
  email: 'ines.ruiz@example.com',
  phoneNumber: '+573001112233',
  address: { addressLines: ['Circular 4 # 70-28', 'Apto 502'], organization: null },
};
const parcel = {
  declaredValueCents: 9_500_000,
  dimensions: { lengthCm: 30, widthCm: 20, heightCm: 12.5 },
  weightKg: 2.2,
  contentDescription: 'Café en grano',
};
const shipOrder = { order: 'orders/ca2496', origin: 'ca4', package: parcel };

// These digests are in the files of servers that run. If one changes, a key from before a deploy becomes a Conflict
// after the deploy, or a second write. So correct the code, not the digest.
const examples: [mutation: string, input: object, id: string, fingerprint: string][] = [
  [
    'createOrder',
    {
      recipient: {
        ...recipient,
        location: 'antioquia-medellin-laureles',
        documentType: 'CC',
        document: '4711',
      },
      contentDescription: 'Café de Huila',
      notes: 'Dejar en portería',
      sellingPriceCents: 11_670_000,
      cashOnDeliveryRequestCents: 0,
      referenceId: 'pedido-1',
    },
    'UneZr7TQM_OPgPPSAos6rwFqKTCdhawC5d2fwr3IQFY',
    'X1vtCs-vrZpbTp3N5G2V2sbri9yzd95R7W0o0AeSNKI',
  ],
  [
    'createQuote',
    {
      origin: 'locations/huila-pitalito',
      destination: 'narino-pasto',
      package: parcel,
      cashOnDeliveryRequestCents: 5_000_000,
    },
    'LSTxj4f2wuDaxHTEsiQ6C5eCSZfGR5qsmFTtgrzCpig',
    'T580pgdXPoHE2P8Z2ZY5ljJdduXB5h7gfRwC8tsvzoY',
  ],
  [
    'createShipment',
    {
      quote: 'quotes/ca2151',
      courier: 'condor-veloz',
      origin: 'origins/ca1',
      recipient,
      requiresPickup: false,
    },
    '8NSKvwglYos3oXgRZZgsQ4XE_zCBYNPqo6CSr8oHkiI',
    '9C0rLaFG6ZLWyhj8e4T4zL2ASh26_A9BmTh3FToxGZQ',
  ],
  [
    'sendMessage',
    {
      conversation: 'channels/ca1/conversations/ca53',
      content: {
        template: {
          name: 'pedido_confirmado',
          language: 'es',
          headerParameters: [{ name: '1', value: '1001' }],
          bodyParameters: [{ name: '1', value: 'Lucía' }],
        },
      },
    },
    'QUoBj6w4bPr0dRY4kp-c0kubmuAYCQTaa3zXP4xjujs',
    'RRoxJx6_IhWN77cMFTjCxjTAGZ3iKBUmTFbsDQSjvKA',
  ],
  [
    'sendMessageToPhone',
    { channel: 'ca1', phone: '+573104567890', name: 'Lucía', text: 'Hola' },
    '44iA3DmKBZWD7Ew2ot7L6yu5UOPvlNVYmeCNJ0W3lL0',
    'Gk2gIMQUSPHs6B7gsszIy8yp_PI3VgjjIJPnHmeVoEI',
  ],
  [
    'shipOrder',
    { ...shipOrder, offer: { courier: 'rutandina' }, maxShipmentCostCents: 2_000_000 },
    'Z9VtNNjeYuUkH0dycDiqnXcKcSMz7rRTPNw36OwpWhE',
    'u52nV_vaz_DaOcFW75BAD5llCwJiNelLGHyKqIEGHug',
  ],
];

describe('the digests of an idempotency key', () => {
  test.each(examples)('never change for %s', async (mutation, input, id, fingerprint) => {
    expect(await claimOf(mutation, input)).toEqual({
      merchant: 'N3rj6VYYFdIDnu8SiEfOPi8MSN1dGPAQ6sfJncQIR8w',
      id,
      fingerprint,
    });
  });

  test('are the same whether the input of shipOrder has the default values or omits them', async () => {
    const bare = await claimOf('shipOrder', shipOrder);
    const nulls = { offer: null, maxShipmentCostCents: null };
    const whole = { offer: { prefer: 'CHEAPEST' }, maxShipmentCostCents: null, requiresPickup: true };
    for (const defaults of [nulls, whole])
      expect(await claimOf('shipOrder', { ...shipOrder, ...defaults })).toEqual(bare);
    expect(bare?.fingerprint).toBe('ovY9xuzZvarcS_EW6yeb6zG5Su5FwUuZN-DPCpWH4DY');
  });
});

describe('a field that a later version adds', () => {
  const request = { ...shipOrder, ...shipOrderDefaults };
  const added = { insurance: { kind: 'NONE', limits: [1, 2] } };
  const laterDefaults = { ...shipOrderDefaults, ...added };

  test('does not change the digest if it has the default value', () => {
    const earlier = digest(withoutDefaults(request, shipOrderDefaults));
    expect(digest(withoutDefaults({ ...request, ...added }, laterDefaults))).toBe(earlier);
    const reordered = { insurance: { limits: [1, 2], kind: 'NONE' } };
    expect(digest(withoutDefaults({ ...request, ...reordered }, laterDefaults))).toBe(earlier);
  });

  test.each([{ insurance: null }, { insurance: { kind: 'NONE', limits: [2, 1] } }])(
    'changes the digest if it has another value: %j',
    (other) => {
      const earlier = digest(withoutDefaults(request, shipOrderDefaults));
      expect(digest(withoutDefaults({ ...request, ...other }, laterDefaults))).not.toBe(earlier);
    },
  );

  test('does not change the digest if it is undefined', () => {
    expect(digest({ ...request, insurance: undefined })).toBe(digest(request));
  });
});

describe('a digest', () => {
  test('does not depend on the order of fields, at any depth', () => {
    expect(digest({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(digest({ b: [{ d: 3, c: 2 }], a: 1 }));
  });

  test.each([
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [['write', 'k'], ['write","k']],
    [{ a: 'é' }, { a: 'e\u0301' }],
  ])('differs between %j and %j', (one, other) => {
    expect(digest(one)).not.toBe(digest(other));
  });

  test('depends on the secret', () => {
    expect(createDigest(() => Buffer.from('another'))('a')).not.toBe(digest('a'));
  });
});
