import { describe, expect, test } from 'vitest';
import { CancelSource } from '../../src/concurrency/cancellation.ts';

import type { CallContext } from '../../src/rest/client/call-context.ts';
import {
  AbortedError,
  CircuitOpenError,
  DeadlineError,
  InvalidResponseError,
  OperationDeadlineError,
  ReadBudgetExceededError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
  UnexpectedNameError,
} from '../../src/rest/errors.ts';
import type { OrganizationJson } from '../../src/rest/wire-schema.ts';
import { createMerchants, MerchantUnknownError } from '../../src/writes/merchant.ts';
import { StoreUnavailableError } from '../../src/writes/store/key-store.ts';
import { createCallContexts } from '../fixtures/call-contexts.ts';
import { memoryStore } from '../fixtures/memory-store.ts';
import { errorOf } from '../fixtures/rest-service.ts';

type Ask = (callContext: CallContext) => Promise<OrganizationJson>;

const call = { method: 'GET' as const, path: '/v1/organizations/mine' };
const status = (code: number, message = 'text of REST') =>
  new StatusError(call, code, { message, fields: [] });
const otherName = new UnexpectedNameError('no record of organization');
const named = (name: string) => async () => ({ name }) as OrganizationJson; // The other fields are not read.
const failing = (error: Error) => async () => {
  throw error;
};

let serviceCount = 0;

/** Creates the merchants of a REST service that responds by `ask`. Each service is new unless `service` names one. */
function startMerchants(ask: Ask, { service = '', store = memoryStore } = {}) {
  serviceCount += 1;
  let answer = ask;
  const asked: string[] = [];
  const callContexts = createCallContexts();
  const merchants = createMerchants({
    api: {
      getOrganization(callContext) {
        asked.push(callContext.bearer);
        return answer(callContext);
      },
    },
    store,
    service: service || `https://rest-${serviceCount}.example/`,
  });
  return {
    /** The tokens with which REST was asked, in order. */
    asked,
    answerWith(next: Ask) {
      answer = next;
    },
    of: (bearer: string, signal = new CancelSource()) => merchants.of(callContexts.of(bearer, signal)),
    forget: (bearer: string) => merchants.forget(callContexts.of(bearer, new CancelSource()).tenant),
  };
}

describe('the merchant of a token', () => {
  test('is the same for all tokens of an organization', async () => {
    const { of, asked, answerWith } = startMerchants(named('organization/cafe-andino'));
    const ana = await of('ana');
    expect(await of('eva')).toBe(ana);
    answerWith(named('organization/sur-textil'));
    expect(await of('ida')).not.toBe(ana);
    expect(asked).toEqual(['ana', 'eva', 'ida']);
  });

  test('is a digest that reveals neither the organization nor the token', async () => {
    const { of, answerWith } = startMerchants(named('organization/cafe-andino'));
    expect(await of('ana')).toMatch(/^[\w-]{43}$/);
    answerWith(failing(status(403)));
    expect(await of('eva')).toMatch(/^[\w-]{43}$/);
  });

  test('differs between services even if organizations have the same name', async () => {
    const organization = named('organization/1');
    const one = startMerchants(organization);
    const other = startMerchants(organization);
    expect(await one.of('ana')).not.toBe(await other.of('ana'));
  });

  test('is the same after a restart', async () => {
    const service = 'https://restarted.example/';
    const organization = named('organization/1');
    const merchant = await startMerchants(organization, { service }).of('ana');
    expect(await startMerchants(organization, { service }).of('eva')).toBe(merchant);
  });
});

describe('the merchant lookup', () => {
  test('calls the REST service once per token', async () => {
    const { of, asked } = startMerchants(named('organization/1'));
    const [first, second] = [await of('ana'), await of('ana')];
    expect(second).toBe(first);
    expect(asked).toEqual(['ana']);
  });

  test('makes one call for 50 concurrent operations', async () => {
    const { of, asked } = startMerchants(named('organization/1'));
    const merchants = await Promise.all(Array.from({ length: 50 }, () => of('ana')));
    expect(new Set(merchants).size).toBe(1);
    expect(asked).toEqual(['ana']);
  });

  test('calls the REST service again after the token was forgotten', async () => {
    const { of, forget, asked } = startMerchants(named('organization/1'));
    await of('ana');
    await of('eva');
    forget('ana');
    await of('ana');
    await of('eva');
    expect(asked).toEqual(['ana', 'eva', 'ana']);
  });

  test('calls the REST service again after an error', async () => {
    const { of, asked, answerWith } = startMerchants(failing(status(503)));
    expect(await errorOf(of('ana'))).toBeInstanceOf(MerchantUnknownError);
    answerWith(named('organization/1'));
    expect(await of('ana')).toMatch(/^[\w-]{43}$/);
    expect(asked).toEqual(['ana', 'ana']);
  });
});

describe('a token without an organization', () => {
  test('becomes its own merchant after two calls that return 403', async () => {
    const { of, asked } = startMerchants(failing(status(403)));
    const ana = await of('ana');
    expect(await of('eva')).not.toBe(ana);
    expect(await of('ana')).toBe(ana);
    expect(asked).toEqual(['ana', 'ana', 'eva', 'eva']);
  });

  test('gets its organization if the second call after a 403 succeeds', async () => {
    const answers = [failing(status(403)), named('organization/1')];
    const { of } = startMerchants(() => (answers.shift() ?? named('organization/1'))());
    expect(await of('ana')).toBe(await of('eva'));
  });

  test.each<[string, Ask]>([
    ['the REST service returns 404', failing(status(404))],
    ['the REST service returns 410', failing(status(410))],
    ['the returned name is not organization/<id>', failing(otherName)],
    ['the returned name is organization/mine', named('organization/mine')],
  ])('is used as the merchant if %s', async (_what, ask) => {
    const { of, asked } = startMerchants(ask);
    const ana = await of('ana');
    expect(await of('eva')).not.toBe(ana);
    expect(await of('ana')).toBe(ana);
    expect(asked).toEqual(['ana', 'eva']);
  });

  test('is a different merchant in each service', async () => {
    const refused = failing(status(403));
    expect(await startMerchants(refused).of('ana')).not.toBe(await startMerchants(refused).of('ana'));
  });

  test.each<[string, Ask]>([
    ['403', failing(status(403))],
    ['an unexpected name', failing(otherName)],
    ['organization/mine', named('organization/mine')],
  ])('is used as the merchant even if another token has an organization: %s', async (_what, ask) => {
    const { of, answerWith } = startMerchants(named('organization/1'));
    const ana = await of('ana');
    answerWith(ask);
    expect(await of('eva')).not.toBe(ana);
  });

  test('is not confused with an organization whose name equals the token', async () => {
    const { of, answerWith } = startMerchants(named('organization/1'));
    const organization = await of('ana');
    answerWith(failing(status(403)));
    expect(await of('organization/1')).not.toBe(organization);
  });
});

describe('a 404 from a service that has returned an organization before', () => {
  const shown = async (options?: Parameters<typeof startMerchants>[1]) => {
    const merchants = startMerchants(named('organization/1'), options);
    await merchants.of('ana');
    merchants.answerWith(failing(status(404)));
    return merchants;
  };

  test('leaves the merchant unknown', async () => {
    const { of } = await shown();
    expect(await errorOf(of('eva'))).toBeInstanceOf(MerchantUnknownError);
  });

  test('leaves the merchant unknown if it comes after a restart', async () => {
    const service = 'https://shown-before.example/';
    await shown({ service });
    const restarted = startMerchants(failing(status(404)), { service });
    expect(await errorOf(restarted.of('ana'))).toBeInstanceOf(MerchantUnknownError);
  });

  test('does not change the merchant of a known token', async () => {
    const { of, asked } = await shown();
    expect(await of('ana')).toMatch(/^[\w-]{43}$/);
    expect(asked).toEqual(['ana']);
  });
});

describe('a token with a 404 before another token got an organization', () => {
  test.each<[string, Ask, boolean]>([
    ['gets the organization of the next response', named('organization/1'), true],
    ['has an unknown merchant after a second 404', failing(status(404)), false],
  ])('%s', async (_what, ask, isShown) => {
    const { of, asked, answerWith } = startMerchants(failing(status(404)));
    await of('ana');
    answerWith(named('organization/1'));
    const organization = await of('eva');
    answerWith(ask);
    const ana = of('ana');
    if (isShown) expect(await ana).toBe(organization);
    else expect(await errorOf(ana)).toBeInstanceOf(MerchantUnknownError);
    expect(asked).toEqual(['ana', 'eva', 'ana']);
  });
});

describe('a 404 from a service that has returned no organization', () => {
  test('makes the token the merchant, even if another service returned an organization', async () => {
    await startMerchants(named('organization/1')).of('ana');
    expect(await startMerchants(failing(status(404))).of('ana')).toMatch(/^[\w-]{43}$/);
  });

  test.each<[string, Ask]>([
    ['a name that is not organization/<id>', failing(otherName)],
    ['organization/mine', named('organization/mine')],
    ['a 403', failing(status(403))],
  ])('makes the token the merchant after %s', async (_what, ask) => {
    const { of, answerWith } = startMerchants(ask);
    await of('ana');
    answerWith(failing(status(404)));
    expect(await of('eva')).toMatch(/^[\w-]{43}$/);
  });
});

describe('MerchantUnknownError', () => {
  test.each<[string, Error]>([
    ['400', status(400)],
    ['429', status(429)],
    ['500', status(500)],
    ['503', status(503)],
    ['a redirect', status(302)],
    [
      'a failed connection',
      new UnavailableError('GET /v1/organizations/mine got no response (ECONNREFUSED)'),
    ],
    ['a timeout', new DeadlineError('GET /v1/organizations/mine was not answered within 10 ms')],
    ['an open circuit', new CircuitOpenError(call, 1_000)],
    ['an invalid body', new InvalidResponseError('GET /v1/organizations/mine returned no JSON')],
    [
      'a response that is too large',
      new ResponseTooLargeError('GET /v1/organizations/mine returned more than 9 bytes'),
    ],
  ])('is thrown after %s', async (_what, cause) => {
    const error = await errorOf(startMerchants(failing(cause)).of('ana'));
    expect(error).toBeInstanceOf(MerchantUnknownError);
    expect(error.cause).toBe(cause);
    expect(error.message).toMatch(
      /^The organization of this access token cannot be read: GET .+\. Nothing was written\. Send the same request again\.$/,
    );
  });

  test('contains no text from the REST service', async () => {
    const error = await errorOf(startMerchants(failing(status(500, 'canary of REST'))).of('ana'));
    expect(error.message).toContain('GET /v1/organizations/mine returned 500.');
    expect(error.message).not.toContain('canary');
  });
});

describe('an error of the merchant lookup', () => {
  test.each<[string, Error]>([
    ['a 401', status(401)],
    ['the deadline of the operation', new OperationDeadlineError('The operation', 30)],
    ['an exhausted read budget', new ReadBudgetExceededError(call, 250)],
    ['a bug', new TypeError('a bug')],
  ])('is thrown unchanged if it is %s', async (_what, error) => {
    const { of, asked } = startMerchants(failing(error));
    expect(await errorOf(of('ana'))).toBe(error);
    expect(asked).toEqual(['ana']);
  });

  test.each(['noteOrganizationShown', 'wasOrganizationShown'] as const)(
    'is thrown unchanged if it comes from the store method %s',
    async (method) => {
      const unavailable = new StoreUnavailableError('the disk is full');
      const store = { ...memoryStore, [method]: failing(unavailable) };
      const ask = method === 'noteOrganizationShown' ? named('organization/1') : failing(status(404));
      const { of, answerWith } = startMerchants(ask, { store });
      expect(await errorOf(of('ana'))).toBe(unavailable);
      answerWith(failing(status(403)));
      expect(await of('ana')).toMatch(/^[\w-]{43}$/);
    },
  );
});

describe('an operation that waits for the merchant lookup of another operation', () => {
  const held = () => {
    const answers: PromiseWithResolvers<OrganizationJson>[] = [];
    const ask: Ask = () => {
      const answer = Promise.withResolvers<OrganizationJson>();
      answers.push(answer);
      return answer.promise;
    };
    return { answers, ask };
  };

  test.each<[string, Error]>([
    ['was aborted', new AbortedError('the client has left')],
    ['exceeded its deadline', new OperationDeadlineError('The operation', 30)],
    ['exhausted its read budget', new ReadBudgetExceededError(call, 250)],
  ])('repeats the lookup if the other operation %s', async (_what, error) => {
    const { answers, ask } = held();
    const { of, asked } = startMerchants(ask);
    const first = errorOf(of('ana'));
    const others = [of('ana'), of('ana')];
    answers[0]?.reject(error);
    expect(await first).toBe(error);
    // The other two share one question.
    await expect.poll(() => asked).toEqual(['ana', 'ana']);
    answers[1]?.resolve(await named('organization/1')());
    const [second, third] = await Promise.all(others);
    expect(second).toMatch(/^[\w-]{43}$/);
    expect(third).toBe(second);
    expect(asked).toEqual(['ana', 'ana']);
  });

  test('makes no lookup if it was aborted itself', async () => {
    const { answers, ask } = held();
    const { of, asked } = startMerchants(ask);
    const first = errorOf(of('ana'));
    const signal = new CancelSource();
    const second = errorOf(of('ana', signal));
    const error = new AbortedError('the client has left');
    signal.abort(error);
    answers[0]?.reject(error);
    expect(await Promise.all([first, second])).toEqual([error, error]);
    expect(asked).toEqual(['ana']);
  });

  test('fails with the same error if the REST service returns 503', async () => {
    const { answers, ask } = held();
    const { of, asked } = startMerchants(ask);
    const both = Promise.all([errorOf(of('ana')), errorOf(of('ana'))]);
    answers[0]?.reject(status(503));
    const [first, second] = await both;
    expect(first).toBeInstanceOf(MerchantUnknownError);
    expect(second).toBe(first);
    expect(asked).toEqual(['ana']);
  });
});
