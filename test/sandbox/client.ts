import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Seed } from '../../src/sandbox/seed/seed.ts';
import { startSeededSandbox } from '../fixtures/seeded-sandbox.ts';

/** The fixed time of these tests. */
export const now = new Date('2026-11-02T14:00:00Z');

export interface Reply {
  status: number;
  // A test knows what it expects, and compares it whole.
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, to be asserted.
  body: any;
  headers: Headers;
}

export interface Client {
  sandbox: Sandbox;
  get(path: string, token?: string): Promise<Reply>;
  post(path: string, body: unknown, token?: string): Promise<Reply>;
  patch(path: string, body: unknown, token?: string): Promise<Reply>;
  close(): Promise<void>;
}

/** Starts a sandbox and returns an HTTP client for it. By default requests have the token of the first merchant. */
export async function openSandbox({ file, ...options }: Omit<SandboxOptions, 'image'> = {}): Promise<Client> {
  const report = (error: unknown) => {
    throw error;
  };
  const sandbox =
    file === undefined && options.now === undefined
      ? await startSeededSandbox({ report, ...options })
      : await startSandbox({ now, report, ...options, ...(file !== undefined && { file }) });
  const call = async (method: string, path: string, body?: unknown, token = sandbox.tokens.first) => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
  return {
    sandbox,
    get: (path, token) => call('GET', path, undefined, token),
    post: (path, body, token) => call('POST', path, body, token),
    patch: (path, body, token) => call('PATCH', path, body, token),
    close: () => sandbox.close(),
  };
}

/** Two merchants with little data: a fifth of the start time, for tests that start many sandboxes. */
export function smallSeed(): Seed {
  const address = { regionCode: 'CO', administrativeArea: 'Huila', locality: 'Pitalito' };
  const medellin = { regionCode: 'CO', administrativeArea: 'Antioquia', locality: 'Medellín' };
  const merchant = (slug: string, prefix: string) => ({
    token: `token-of-${slug}`,
    organization: { name: `organization/${slug}`, balanceCents: 0, creditLimitCents: 0 },
    origins: [
      {
        name: `origins/${prefix}4`,
        location: 'locations/huila-pitalito',
        address: { ...address, addressLines: ['Calle 5'], organization: '' },
      },
    ],
    orders: [],
    quotes: [],
    shipments: [],
    channels: [],
  });
  return {
    locations: [
      { name: 'locations/antioquia-medellin', address: medellin },
      { name: 'locations/huila-pitalito', address },
    ],
    merchants: [merchant('first-one', 'fo'), merchant('second-one', 'so')],
  };
}

/** The body of a new order, all that is required and no more. */
export const newOrder = {
  recipient: {
    firstName: 'Zulma',
    lastName: 'Quiñónez Ávila',
    email: 'zulma@example.com',
    phoneNumber: '+57 300 999 0001',
    address: { addressLines: ['Calle 10 # 43-20', 'Apartamento 501'] },
    location: 'locations/antioquia-medellin',
  },
  contentDescription: 'Café de origen',
  notes: 'Dejar en portería',
  sellingPriceCents: 5_000_000,
  cashOnDeliveryRequestCents: 0,
};

/** The body of a quote from the first merchant's first origin. */
export const newQuote = {
  origin: 'locations/huila-pitalito',
  destination: 'locations/antioquia-medellin',
  package: {
    declaredValueCents: 5_000_000,
    dimensions: { lengthCm: 20, widthCm: 15, heightCm: 10 },
    weightKg: 1.2,
    contentDescription: 'Café de origen',
  },
};

/** The `error.details` of a refusal as `field message` lines. */
export function faultsOf({ body }: Reply): string[] {
  return body.error.details.map(
    ({ field, message }: { field: string; message: string }) => `${field} ${message}`,
  );
}
