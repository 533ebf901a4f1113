import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLoaders } from '../../src/loaders/loaders.ts';
import { createLoaderStates } from '../../src/loaders/tenant-state.ts';
import type { ShippingLock, ShippingNote } from '../../src/writes/earlier-shipment-search.ts';
import { createIdempotency } from '../../src/writes/idempotency.ts';
import { postShipment, shippingPartsOf } from '../../src/writes/shipping-posts.ts';
import { memoryStore } from '../fixtures/memory-store.ts';
import { type Answer, answerJson, errorOf, startRestClient } from '../fixtures/rest-service.ts';

const shipment = {
  quote: 'quotes/2',
  courier: 'couriers/1',
  origin: 'origins/1',
  recipient: {
    firstName: 'Lucía',
    lastName: 'Ñáñez',
    email: 'lucia.nanez@example.com',
    phoneNumber: '+573104567890',
    address: { addressLines: ['Circular 4 # 70-28'] },
  },
  requiresPickup: true,
};
const created = { name: 'shipments/1', quote: shipment.quote, status: 'LABEL_GENERATED' };
const post = 'POST /v1/shipments';
const listShipments = 'GET /v1/shipments?pageSize=1000';
/** The note of an earlier attempt, with another quote. */
const earlierNote: ShippingNote = { quote: 'quotes/1' };
const ownNote = { quote: shipment.quote, earliestMs: 1_000, postedAtMs: undefined };

/** A lock whose notes go into `events`. */
function lockWith(events: unknown[]): ShippingLock {
  const lock = {
    note: earlierNote as ShippingNote | undefined, // `checkpoint` may remove it.
    notesLost: undefined,
    async checkpoint(note: ShippingNote | undefined) {
      events.push(note);
      lock.note = note;
    },
    tryCheckpoint: (note: ShippingNote | undefined) => lock.checkpoint(note),
    noteAtEnd: (note: ShippingNote) => void events.push({ atEnd: note }),
    expectHeld: () => void events.push('expectHeld'),
  };
  return lock;
}

/** Posts a shipment of a quote without an order. @returns the outcome, and the notes and REST calls in turn. */
async function postTo(answer: Answer) {
  const events: unknown[] = [];
  await using rest = await startRestClient((request, response, body) => {
    events.push(`${request.method} ${request.url}`);
    // Without the clock of REST, the notes have no time.
    response.sendDate = false;
    return answer(request, response, body);
  });
  const shipping = shippingPartsOf({
    api: rest.api,
    callContext: rest.callContext(),
    loaders: createLoaders(rest.api, rest.callContext(), createLoaderStates(readConfig({}))),
    idempotency: createIdempotency({
      store: memoryStore,
      merchants: { of: async () => 'of this test', forget: () => {} },
      report: () => {},
      processingMs: 0,
    }),
  });
  const target = { shipment, order: undefined, earliestMs: 1_000, lock: lockWith(events) };
  const result = postShipment(shipping, target, async () => void events.push('progress'));
  const outcome = await result.catch(() => errorOf(result));
  return { outcome, events };
}

describe('postShipment', () => {
  test('stores the progress and the note before the POST, and the shipment afterwards', async () => {
    const { outcome, events } = await postTo(answerJson(created));
    expect(outcome).toEqual(created);
    const atEnd = { ...ownNote, shipment: created.name };
    expect(events).toEqual(['progress', ownNote, 'expectHeld', post, { atEnd }]);
  });

  test.each([401, 403, 429])('restores the earlier note after a rejection with %i', async (status) => {
    const { outcome, events } = await postTo(answerJson({}, status));
    expect(outcome).toMatchObject({ status });
    expect(events).toEqual(['progress', ownNote, 'expectHeld', post, earlierNote]);
  });

  test.each([400, 413])(
    'stores a note of the loss after a rejection with %i, if there was a note',
    async (status) => {
      const { outcome, events } = await postTo(answerJson({}, status));
      expect(outcome).toMatchObject({ status });
      const lostNote = { ...ownNote, lost: expect.anything() };
      expect(events).toEqual(['progress', ownNote, 'expectHeld', post, lostNote]);
    },
  );

  test('stores a note of the loss after a 5xx, and sends no second POST', async () => {
    const { outcome, events } = await postTo(answerJson({}, 500));
    expect(outcome).toMatchObject({ status: 500 });
    const lost = expect.anything();
    expect(events).toEqual(['progress', ownNote, 'expectHeld', post, { ...ownNote, lost }]);
  });

  test('finds and returns the shipment after a POST that REST refused with 409', async () => {
    const { outcome, events } = await postTo((request, response, body) => {
      const answer = request.method === 'POST' ? answerJson({}, 409) : answerJson({ shipments: [created] });
      return answer(request, response, body);
    });
    expect(outcome).toEqual(created);
    const lostNote = { ...ownNote, lost: expect.anything() };
    const atEnd = { ...ownNote, shipment: created.name };
    expect(events).toEqual(['progress', ownNote, 'expectHeld', post, lostNote, listShipments, { atEnd }]);
  });
});
