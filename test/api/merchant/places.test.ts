import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  LocationLookupDocument,
  LocationSearchDocument,
  OriginListDocument,
  OriginLocationDocument,
  OriginLookupDocument,
} from '../../documents.generated.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

test('origins are the places that the merchant ships from', async () => {
  const { data, calls } = await ask(OriginListDocument, {}, sandbox.tokens.second);
  expect(data).toEqual({
    origins: {
      nodes: [
        {
          id: 'origins/st1',
          address: {
            locality: 'Itagüí',
            addressLines: ['Carrera 50A # 37-22', 'Bodega 11'],
            organization: 'Sur Textil',
          },
        },
        {
          id: 'origins/st2',
          address: {
            locality: 'Pasto',
            addressLines: ['Calle 20 # 29-14', 'Taller, segundo piso'],
            organization: 'Sur Textil',
          },
        },
      ],
    },
  });
  expect(calls).toEqual(['GET /v1/origins?pageSize=20']);
});

describe('an origin', () => {
  test.each(['ca2', 'origins/ca2'])('is looked up by id in the list of origins: %s', async (id) => {
    const { data, calls } = await ask(OriginLookupDocument, { id });
    expect(data).toEqual({
      origin: { id: 'origins/ca2', location: { id: 'locations/antioquia-medellin-guayabal' } },
    });
    expect(calls).toEqual(['GET /v1/origins?pageSize=1000']);
  });

  test.each(['ca5', 'st1'])('is null if the merchant has no origin with the id: %s', async (id) => {
    const { data, errors, calls } = await ask(OriginLookupDocument, { id });
    expect({ data, errors }).toEqual({ data: { origin: null }, errors: undefined });
    expect(calls).toEqual(['GET /v1/origins?pageSize=1000']);
  });

  test('costs one filtered list call for its location', async () => {
    const { data, calls } = await ask(OriginLocationDocument, { id: 'ca3' });
    expect(data).toEqual({
      origin: { location: { administrativeArea: 'Risaralda', locality: 'Pereira' } },
    });
    expect(calls).toEqual([
      'GET /v1/origins?pageSize=1000',
      'GET /v1/locations?pageSize=1000&query=locations/risaralda-pereira',
    ]);
  });
});

test('several lookups of origins cost one list call', async () => {
  const { data, calls } = await ask(
    '{ a: origin(id: "ca1") { id } b: origin(id: "ca4") { id } shipment(id: "ca0001") { origin { address { locality } } } }',
  );
  expect(data).toMatchObject({ a: { id: 'origins/ca1' }, b: { id: 'origins/ca4' } });
  expect(calls.toSorted()).toEqual(['GET /v1/origins?pageSize=1000', 'GET /v1/shipments/ca0001']);
});

describe('a location by id', () => {
  test.each(['antioquia-medellin', 'locations/antioquia-medellin'])(
    'is the location whose id matches exactly: %s',
    async (id) => {
      const { data, calls } = await ask(LocationLookupDocument, { id });
      expect(data).toEqual({
        location: {
          id: 'locations/antioquia-medellin',
          regionCode: 'CO',
          administrativeArea: 'Antioquia',
          locality: 'Medellín',
        },
      });
      expect(calls).toEqual(['GET /v1/locations?pageSize=1000&query=locations/antioquia-medellin']);
    },
  );

  test.each(['antioquia-mede', 'medellin', 'nowhere'])('is null if no id matches exactly: %s', async (id) => {
    const { data, errors, calls } = await ask(LocationLookupDocument, { id });
    expect({ data, errors }).toEqual({ data: { location: null }, errors: undefined });
    expect(calls).toEqual([`GET /v1/locations?pageSize=1000&query=locations/${id}`]);
  });

  test('costs one call, however many lookups select it', async () => {
    const { calls } = await ask(`{
      a: location(id: "narino-pasto") { locality }
      b: location(id: "locations/narino-pasto") { locality }
      c: node(id: "locations/narino-pasto") { id }
      d: location(id: "huila-pitalito") { locality }
    }`);
    expect(calls.toSorted()).toEqual([
      'GET /v1/locations?pageSize=1000&query=locations/huila-pitalito',
      'GET /v1/locations?pageSize=1000&query=locations/narino-pasto',
    ]);
  });

  test('is read from the unfiltered list if many locations are selected', async () => {
    const ids = [
      'locations/amazonas-leticia',
      'locations/antioquia-medellin',
      'locations/bogota-dc',
      'locations/huila-pitalito',
      'locations/narino-pasto',
      'locations/nowhere',
      'locations/risaralda-pereira',
      'locations/sucre-sincelejo',
      'locations/valle-del-cauca-buga',
      'locations/vichada-cumaribo',
    ];
    const { data, errors, calls } = await ask(
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Location { locality } } }',
      { ids },
    );
    expect({ data, errors }).toEqual({
      data: {
        nodes: [
          { id: 'locations/amazonas-leticia', locality: 'Leticia' },
          { id: 'locations/antioquia-medellin', locality: 'Medellín' },
          { id: 'locations/bogota-dc', locality: 'Bogotá D.C.' },
          { id: 'locations/huila-pitalito', locality: 'Pitalito' },
          { id: 'locations/narino-pasto', locality: 'Pasto' },
          null,
          { id: 'locations/risaralda-pereira', locality: 'Pereira' },
          { id: 'locations/sucre-sincelejo', locality: 'Sincelejo' },
          { id: 'locations/valle-del-cauca-buga', locality: 'Buga' },
          { id: 'locations/vichada-cumaribo', locality: 'Cumaribo' },
        ],
      },
      errors: undefined,
    });
    expect(calls).toEqual([
      'GET /v1/locations?pageSize=1000',
      expect.stringMatching(/^GET \/v1\/locations\?pageSize=1000&pageToken=[\w-]+$/),
    ]);
  });

  test('is found even on the second page of the filtered list', async () => {
    const row = (id: string) => ({ name: `locations/${id}`, address: { regionCode: 'CO' } });
    sandbox.faults.add({
      path: '/v1/locations',
      times: 1,
      kind: 'change',
      change: () => ({ locations: [row('a-1')], nextPageToken: 'second' }),
    });
    sandbox.faults.add({
      path: '/v1/locations',
      kind: 'status',
      status: 200,
      body: { locations: [row('a')], nextPageToken: '' },
    });
    const { data, calls } = await ask('{ location(id: "a") { id regionCode } }');
    expect(data).toEqual({ location: { id: 'locations/a', regionCode: 'CO' } });
    expect(calls).toEqual([
      'GET /v1/locations?pageSize=1000&query=locations/a',
      'GET /v1/locations?pageSize=1000&pageToken=second&query=locations/a',
    ]);
  });
});

describe('the search for locations', () => {
  const itagui = [{ id: 'locations/antioquia-itagui', locality: 'Itagüí' }];

  test.each(['Itagüí', 'itagui', 'ITAGÜÍ', 'Itagüí'.normalize('NFD'), 'tagüí'])(
    'matches a part of the name, ignoring case and accents: %s',
    async (search) => {
      const { data, calls } = await ask(LocationSearchDocument, { search, first: 2 });
      const pageInfo = { hasNextPage: false, endCursor: expect.any(String) };
      expect(data).toEqual({ locations: { nodes: itagui, pageInfo } });
      expect(calls).toEqual([`GET /v1/locations?pageSize=2&query=${search}`]);
    },
  );

  test('returns places with equal names and different departments', async () => {
    const { data } = await ask(
      '{ locations(search: "La Unión") { nodes { id administrativeArea locality } } }',
    );
    expect(data).toEqual({
      locations: {
        nodes: [
          { id: 'locations/antioquia-la-union', administrativeArea: 'Antioquia', locality: 'La Unión' },
          { id: 'locations/narino-la-union', administrativeArea: 'Nariño', locality: 'La Unión' },
          { id: 'locations/sucre-la-union', administrativeArea: 'Sucre', locality: 'La Unión' },
          {
            id: 'locations/valle-del-cauca-la-union',
            administrativeArea: 'Valle del Cauca',
            locality: 'La Unión',
          },
        ],
      },
    });
  });

  test.each(['%', '_', 'Atlantis', '&pageSize=1', '#', "' OR 1=1 --"])(
    'treats each character literally: %s',
    async (search) => {
      const { data, errors, calls } = await ask(LocationSearchDocument, { search, first: 2 });
      const pageInfo = { hasNextPage: false, endCursor: null };
      expect({ data, errors }).toEqual({ data: { locations: { nodes: [], pageInfo } }, errors: undefined });
      expect(calls).toEqual([`GET /v1/locations?pageSize=2&query=${search}`]);
    },
  );

  test.each(['', null])('returns the whole list if the search text is %j', async (search) => {
    const { data, calls } = await ask(LocationSearchDocument, { search, first: 1 });
    expect(data.locations.nodes).toEqual([{ id: 'locations/amazonas-leticia', locality: 'Leticia' }]);
    expect(calls).toEqual(['GET /v1/locations?pageSize=1']);
  });

  test('rejects the cursor of a different search', async () => {
    const { data } = await ask(LocationSearchDocument, { search: 'medellin', first: 1 });
    const after = data.locations.pageInfo.endCursor;
    const next = await ask(LocationSearchDocument, { search: 'medellin', first: 1, after });
    expect(next.data.locations.nodes).toEqual([
      { id: 'locations/antioquia-medellin-popular', locality: 'Medellín (Popular)' },
    ]);
    const other = await ask(LocationSearchDocument, { search: 'Medellín', first: 1, after });
    expect(other.data).toEqual({ locations: null });
    expect(other.errors).toMatchObject([{ path: ['locations'], extensions: { code: 'INVALID_CURSOR' } }]);
    expect(other.calls).toEqual([]);
  });

  test('returns the whole list in two pages of the largest size', async () => {
    const { data, calls } = await ask(LocationSearchDocument, { first: 1000 });
    const after = data.locations.pageInfo.endCursor;
    const rest = await ask(LocationSearchDocument, { first: 1000, after });
    const ids = [...data.locations.nodes, ...rest.data.locations.nodes].map((location) => location?.id);
    expect(data.locations.nodes).toHaveLength(1000);
    expect(rest.data.locations.pageInfo.hasNextPage).toBe(false);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...calls, ...rest.calls]).toEqual([
      'GET /v1/locations?pageSize=1000',
      expect.stringMatching(/^GET \/v1\/locations\?pageSize=1000&pageToken=/),
    ]);
  });
});
