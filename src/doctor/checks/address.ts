import { type Check, type Examination, failure, type Outcome, ok, toListPage } from '../examination.ts';
import { type Answer, CallFailedError } from '../live-service.ts';

const path = '/v1/orders';
const expected = 'A list of orders was expected.';

/** By the code of a failed call. */
const remedies: [code: RegExp, remedy: string][] = [
  [
    /^TIMEOUT$/,
    'Check that this is the address of the REST service, and that the service is not overloaded.',
  ],
  [/^429$/, 'The REST service limits the rate of calls. Wait, and run the doctor again.'],
  [
    /^\d+$/,
    'The REST service is down, or a proxy cannot reach it. Run the doctor again when the service is available.',
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'The name of the host cannot be resolved. Check the address and the DNS.'],
  [
    /CERT|SIGNATURE|SIGNED/,
    'The certificate of the REST service is not valid. For a CA of your own, set NODE_EXTRA_CA_CERTS to the file with its certificate.',
  ],
  [
    /^(EPROTO|ERR_SSL)/,
    'The server at this port does not use TLS. Try http:// in the address, or another port.',
  ],
  [
    /^(HPE_|HTTPParser|ERR_|TOO_LARGE)/,
    'The response is not valid HTTP, or its body cannot be read. Check host and port.',
  ],
  [/^the proxy/, 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.'],
  [
    /^/,
    'No server responds at this address. Check host, port and firewall, and whether the REST service runs.',
  ],
];

/** Whether the address is that of the REST service. */
export const address: Check = async (examination) => {
  try {
    return await checkAddress(examination);
  } catch (error) {
    if (!(error instanceof CallFailedError)) throw error;
    const [, remedy = ''] = remedies.find(([code]) => code.test(String(error.cause))) ?? [];
    return failure(`${error.message}. ${expected}`, remedy);
  }
};

async function checkAddress(examination: Examination): Promise<Outcome> {
  const { service } = examination;
  const answer = await service.get(path);
  const { call, status, contentType, json, ms } = answer;
  if (status >= 300 && status < 400) return redirected(answer);
  if (status === 200 && answer.text === undefined) return notDecoded(answer);
  const page = toListPage('orders', answer);
  if (page === undefined && status !== 401 && status !== 403) {
    const remedy =
      'The address leads to a web page, another API or another path. If the orders are at https://host/base/v1/orders, use https://host/base.';
    const cause = `${call} returned ${status} and ${json === undefined ? contentType : 'other JSON'}. ${expected}`;
    return (await atOtherBasePath(examination)) ?? failure(cause, remedy);
  }
  // 2 seconds, as for the log of the server. The first call may be slow because the service starts.
  const slowMs = service.timeoutMs / 5;
  const fastestMs = ms <= slowMs ? ms : Math.min((await service.get(path)).ms, (await service.get(path)).ms);
  const cause = `The service responds in ${Math.round(fastestMs)} ms`;
  if (fastestMs > slowMs)
    return failure(
      `${cause}, but at most ${slowMs} ms were expected.`,
      'Ask the operator of the REST service why it is slow.',
    );
  examination.first = answer;
  if (page !== undefined) examination.pages.set('orders', page);
  return ok(`${cause}, ${service.options.url.protocol === 'https:' ? 'with' : 'without'} TLS.`);
}

function notDecoded({ call, contentType }: Answer): Outcome {
  const remedy =
    'Ask the operator of the REST service to send JSON in UTF-8, or to name its charset in content-type.';
  const cause = `${call} returned ${contentType} that is not valid in its charset, by default UTF-8. ${expected}`;
  return failure(cause, remedy);
}

function redirected({ call, status, headers }: Answer): Outcome {
  const target = URL.parse(String(headers.location));
  const remedy = target?.pathname.endsWith(path)
    ? `Use --url ${target.origin}${target.pathname.slice(0, -path.length)}`
    : 'Use an address that responds without a redirect. A login page is not the REST service.';
  const host = target?.host ?? 'no address';
  return failure(`${call} returned ${status}, a redirect to ${host}. ${expected}`, remedy);
}

/** Looks for the list of orders at the base path without its last parts, and without empty parts. */
async function atOtherBasePath({ service }: Examination): Promise<Outcome | undefined> {
  const parts = service.options.url.pathname.split('/').filter((part) => part !== '');
  const basePaths = [...parts.keys(), parts.length].map((count) => `/${parts.slice(0, count).join('/')}`);
  const given = service.options.url.pathname.replace(/(.)\/$/, '$1');
  for (const basePath of basePaths.reverse().filter((each) => each !== given)) {
    const answer = await service.get(path, {}, { basePath });
    if (toListPage('orders', answer) === undefined) continue;
    const remedy = `Use --url ${service.options.url.origin}${basePath.replace(/\/$/, '')}`;
    return failure(`The address has an extra path segment or slash. ${expected}`, remedy);
  }
  return undefined;
}
