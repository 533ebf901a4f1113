import { httpDateMs } from '../../base/date-time.ts';
import { isJsonObject } from '../../base/json-object.ts';
import { readErrorBody } from '../../rest/client/error-body.ts';
import {
  type Check,
  type Examination,
  failure,
  ok,
  open,
  recordPaths,
  textIn,
  warning,
} from '../examination.ts';
import type { Answer } from '../live-service.ts';

/** Whether REST accepts the access token, and refuses another one. */
export const accessToken: Check = async ({ service, first }) => {
  if (first?.status !== 200) {
    const remedy = 'Use a valid token with permission to read orders. Pass the token without "Bearer".';
    return failure(`The token is rejected with ${first?.status}. A list of orders was expected.`, remedy);
  }
  const broken = await service.get('/v1/orders', {}, { token: 'waybill-doctor-broken-token' });
  if (broken.status === 401) return ok('The token is accepted, and an invalid token gets 401.');
  const remedy =
    'Clients do not get UNAUTHENTICATED for an expired token. Ask the operator of the REST service to return 401.';
  return warning(
    `The token is accepted, and an invalid token gets ${broken.status}. 401 was expected.`,
    remedy,
  );
};

/** Whether idempotency keys can belong to the merchant. */
export const organization: Check = async ({ service }) => {
  const { status, json } = await service.get('/v1/organizations/mine');
  if (/^organization\/(?!mine$)[^/]+$/.test(textIn(json, 'name') ?? ''))
    return ok('The organization has an id.');
  const remedy =
    'Idempotency keys and locks hold for one access token only. A retry with a new token may write a second time.';
  return warning(
    `The organization has no id (status ${status}). An id such as organization/7 was expected.`,
    remedy,
  );
};

const maxSkewSeconds = 60;

/** Whether responses have the time of REST, which the recovery of lost writes needs. */
export const clock: Check = async ({ first }) => {
  const dateMs = httpDateMs(first?.headers.date);
  if (dateMs === undefined) {
    const remedy =
      'After a lost response, Waybill cannot look for the result of the write. Clients must look for it.';
    return warning('Responses have no usable Date header.', remedy);
  }
  const seconds = (dateMs - Number(first?.receivedAt)) / 1_000;
  const count = Math.abs(Math.round(seconds));
  // Without the direction, which may differ in each run, and would differ from the baseline.
  if (count <= maxSkewSeconds) return ok(`The Date header is ${count} s off the clock of this machine.`);
  return warning(
    `The Date header is ${count} s ${seconds < 0 ? 'behind' : 'ahead of'} the clock of this machine.`,
    'Correct the clock of this machine, or ask the operator of the REST service to correct theirs.',
  );
};

/** What an order that does not exist gets. */
export const notFound: Check = async (examination) => {
  const answer = await examination.service.get('/v1/orders/waybill-doctor-none');
  if (answer.status === 404 || answer.status === 410) return readError(examination, answer);
  const remedy = 'Clients get an error instead of null. Ask the operator of the REST service to return 404.';
  return warning(
    `A request for an order that does not exist gets ${answer.status}. 404 was expected.`,
    remedy,
  );
};

/** What a wrong parameter or a wrong value gets. */
export const badRequest: Check = async (examination) => {
  const answer = examination.refusal ?? (await examination.list('/v1/orders', 'none'));
  if (answer.status >= 400) return readError(examination, answer);
  return open(
    'The doctor got no error 400. The REST service accepts an unknown parameter and a page size that is not a number.',
  );
};

/** Whether the server reads the message of an error. The names in its body are the evidence. */
function readError({ service: { options } }: Examination, { status, contentType, text, json }: Answer) {
  const privateTexts = { accessToken: options.token, restHost: options.url.hostname };
  const { message, fields } = readErrorBody(text ?? '', privateTexts);
  const shape = json === undefined ? contentType : [...new Set(namesIn(json))].sort().join(', ');
  if (message !== undefined)
    return ok(
      `The ${status} response contains ${shape}. Waybill finds the message${fields.length > 0 ? ' and the invalid fields' : ''}.`,
    );
  const remedy =
    'Clients get a generic message with the status. Waybill finds an error message in fields such as "message", "detail" and "title", in a list or map "errors", and in a text of one line.';
  return warning(`The ${status} response contains ${shape}. Waybill finds no error message in it.`, remedy);
}

/** The names in a body, such as `error.message`. Names that may be data are left out. */
function namesIn(json: unknown, path = ''): string[] {
  if (Array.isArray(json)) return namesIn(json[0], `${path}[]`);
  if (!isJsonObject(json)) return path === '' ? [] : [path.slice(1)];
  const names = Object.keys(json).filter((name) => /^[a-z][A-Za-z_]{0,39}$/.test(name));
  return names.flatMap((name) => namesIn(json[name], `${path}.${name}`));
}

/** Whether the label of a shipment is a PDF. */
export const label: Check = async ({ service, pages }) => {
  const shipments = pages.get('shipments')?.rows.filter((row) => textIn(row, 'labelUrl')) ?? [];
  const [path] = recordPaths(shipments.map((row) => textIn(row, 'name')));
  if (path === undefined) return open('No shipment has a label.');
  const { status, contentType, body } = await service.get(`${path}/label`, {}, { accept: 'application/pdf' });
  if (status === 404) return open('The label no longer exists (404).');
  if (status === 200 && contentType === 'application/pdf' && body.subarray(0, 5).toString() === '%PDF-')
    return ok(`The label is a PDF of ${body.length} bytes.`);
  const remedy =
    'Waybill serves only application/pdf. Ask the operator of the REST service to return labels in this type.';
  return failure(`The response is ${contentType} with status ${status}. A PDF was expected.`, remedy);
};
