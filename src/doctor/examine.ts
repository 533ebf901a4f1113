import { type ResourceKind, wireSchemas } from '../rest/wire-schema.ts';
import { address } from './checks/address.ts';
import { accessToken, badRequest, clock, label, notFound, organization } from './checks/answers.ts';
import { largestPage, lastPage, orderOfLists } from './checks/lists.ts';
import { filter, pageSize, pageToken, unknownParameters } from './checks/parameters.ts';
import { checkFields, rowsAndRecords } from './checks/records.ts';
import { updateTime } from './checks/update-time.ts';
import { type Check, Examination, type Outcome, open } from './examination.ts';
import { CallFailedError, LiveService, type LiveServiceOptions } from './live-service.ts';

// Those of `wireSchemas`.
const kinds = Object.keys(wireSchemas) as ResourceKind[];
const fieldChecks = Object.fromEntries(kinds.map((kind) => [`fields of ${kind}`, checkFields(kind)]));

/** In their order, because each check uses what the earlier ones found. */
const checks: Record<string, Check> = {
  address,
  'access token': accessToken,
  organization,
  clock,
  'unknown parameters': unknownParameters,
  'page size': pageSize,
  'page token': pageToken,
  'status filter': filter('status'),
  'search of orders': filter('search'),
  'search of locations': filter('query'),
  'page of orders': largestPage('orders'),
  'page of shipments': largestPage('shipments'),
  ...fieldChecks,
  'last page': lastPage,
  'order of lists': orderOfLists,
  'rows and records': rowsAndRecords,
  label,
  'error 404': notFound,
  'error 400': badRequest,
  // Last, so that much time has passed since the first look.
  'update time': updateTime,
};

/** Without these, nothing else can be checked. */
const isVital = (check: string) => check === 'address' || check === 'access token';

export type Finding = Outcome & { check: string };

/** What the doctor found out about a service or a store. A store has no calls and no settings. */
export interface Report {
  /** Whether Waybill can run with it. Open questions do not matter, but for the address and the access token. */
  isUsable: boolean;
  calls: number;
  medianMs: number;
  /** The settings to use, by their variables. None if the service is not usable. */
  settings: Record<string, string>;
  findings: Finding[];
}

/** Examines a live service with at most 80 GETs, one after the other. */
export async function examine(options: LiveServiceOptions): Promise<Report> {
  const service = new LiveService(options);
  const examination = new Examination(service);
  const findings: Finding[] = [];
  for (const [name, check] of Object.entries(checks)) {
    const { mark, cause, remedy } = await check(examination).catch(toOutcome);
    // A service may have the token in a name or in a content type.
    findings.push({ check: name, mark, cause: cause.replaceAll(options.token, '<token>'), remedy });
    if (isVital(name) && (mark === 'failure' || mark === 'open')) break;
  }
  await service.close();
  const { calls, durations } = service;
  const medianMs = Math.round(durations.sort((one, other) => one - other)[durations.length >> 1] ?? 0);
  const isUsable = findings.every(
    ({ check, mark }) => mark !== 'failure' && !(mark === 'open' && isVital(check)),
  );
  return { isUsable, calls, medianMs, settings: isUsable ? examination.settings : {}, findings };
}

/** No call is repeated, so a check whose call failed stays open. */
function toOutcome(error: unknown): Outcome {
  if (error instanceof CallFailedError) return open(`${error.message}.`, 'Run the doctor again later.');
  throw error;
}
