import { CancelSource, untilAborted } from '../concurrency/cancellation.ts';
import type { Owner } from '../concurrency/owner.ts';
import { Semaphore, SimpleRequest } from '../concurrency/semaphore.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { DeadlineError, MissingBearerError, ResponseTooLargeError } from '../rest/errors.ts';
import type { ResourceName } from '../rest/resource-name.ts';
import type { ShipmentJson } from '../rest/wire-schema.ts';
import { StoreUnavailableError } from '../writes/store/key-store.ts';
import { DocumentsBusyError } from './errors.ts';
import { Holders } from './holders.ts';
import { type LabelFile, type LabelSource, readLabels } from './label-reader.ts';
import type { LayoutName } from './layouts.ts';
import type { PdfMaker } from './pdf-maker.ts';
import {
  type DocumentStore,
  documentIdForm,
  newDocumentId,
  type StoredDocument,
} from './store/document-store.ts';

// Each may have 32 MiB of labels in memory.
const documentsAtOnce = 3;
const maxWaiting = 16;

const msPerMinute = 60_000;

export interface DocumentRequest {
  shipments: readonly ResourceName<'shipments'>[];
  layout: LayoutName;
  startAt: number;
  summary: boolean;
  expiresInMinutes: number;
}

/** A shipment of the request. `shipment` is null if it does not exist, or could not be read. */
export type DocumentEntry = { id: ResourceName<'shipments'>; shipment: ShipmentJson | null } & (
  | { outcome: 'INCLUDED'; page: number }
  | { outcome: 'NOT_READY' | 'NOT_FOUND' | 'UNREADABLE'; message: string }
  | { outcome: 'FAILED'; error: unknown }
);

export interface CreatedDocument {
  /** Undefined if the document has no label, and so was not made. */
  document: { id: string; expiresAtMs: number; pages: number } | undefined;
  entries: DocumentEntry[];
}

export interface LabelDocumentsOptions extends LabelSource {
  maker: PdfMaker;
  store: DocumentStore;
  operationTimeoutMs: number;
}

export type LabelDocuments = ReturnType<typeof createLabelDocuments>;

/** Makes documents of labels, and keeps them in the store. */
export function createLabelDocuments(options: LabelDocumentsOptions) {
  const { maker, store, operationTimeoutMs } = options;
  const places = new Semaphore({ total: documentsAtOnce, perToken: 1, maxWaiting });
  const holders = new Holders();
  /** The documents that are being made. */
  const running = new Set<{ holder: string; isRejected: boolean }>();

  /** Waits for a place. @throws DocumentsBusyError also if none is free by half of the operation's time */
  async function takePlace({ owner }: CallContext, halfTime: CancelSource): Promise<SimpleRequest> {
    const granted = Promise.withResolvers<void>();
    const request = new SimpleRequest(owner, 1, granted.resolve);
    const outcome = places.acquire(request);
    if (outcome === 'waiting') await untilAborted(granted.promise, halfTime);
    if (request.slot === 'granted') return request;
    places.release(request);
    throw new DocumentsBusyError('The server is making other documents. Try again soon.');
  }

  async function make(
    request: DocumentRequest,
    callContext: CallContext,
    loaders: Loaders,
    halfTime: CancelSource,
  ): Promise<CreatedDocument> {
    const holder = store.holderOf(callContext.bearer);
    const failure = store.failure();
    // Before the labels are read in vain.
    if (holder === undefined || failure !== undefined)
      throw new StoreUnavailableError(failure ?? 'The store of documents is not open yet.');
    const work = { holder, isRejected: false };
    running.add(work);
    try {
      const found = await readShipments(request, loaders, halfTime);
      // Those with a label, which is not read yet.
      const ready = found.filter(({ file }) => file === undefined);
      if (ready.length > 0) maker.prepare();
      const files = await readLabels(
        ready.map(({ id }) => id),
        options,
        callContext,
        halfTime,
      );
      for (const [index, one] of ready.entries()) one.file = files[index];
      const printed = found.filter(isPrinted);
      if (printed.length === 0) return { document: undefined, entries: found.map((one) => toEntry(one)) };
      const { results, file } = await maker.make(
        {
          form: { layout: request.layout, startAt: request.startAt },
          labels: printed.map(({ file: { bytes } }) => bytes),
          summary: request.summary
            ? (results) => printed.filter((_one, index) => 'page' in (results[index] ?? {})).map(toRow)
            : undefined,
        },
        callContext.deadline.deadlineSignal,
      );
      const resultOf = new Map(printed.map((one, index) => [one.id, results[index]]));
      const entries = found.map((one) => toEntry(one, resultOf.get(one.id)));
      if (file === undefined) return { document: undefined, entries };
      // Only now, as the token may have been rejected meanwhile.
      if (work.isRejected) throw new MissingBearerError('The REST service rejects the access token.');
      const lifetimeMs = request.expiresInMinutes * msPerMinute;
      // Before the store starts the lifetime, so that no link ends before its time.
      const expiresAtMs = Date.now() + lifetimeMs;
      const id = newDocumentId();
      if (!(await store.put(id, { holder, parts: file.parts, lifetimeMs })))
        throw new ResponseTooLargeError(
          'The document is larger than this server can keep. Print fewer labels',
        );
      // REST may have rejected the token while the store wrote. The client learns this when its link is 410.
      if (work.isRejected) store.endAll(holder);
      holders.note(holder, callContext.tenant);
      return { document: { id, expiresAtMs, pages: file.pages }, entries };
    } finally {
      running.delete(work);
    }
  }

  return {
    /**
     * Reads the labels within half of the operation's time, and makes a document of them in the other half.
     * @throws DocumentsBusyError, StoreUnavailableError, PdfProcessError, ResponseTooLargeError, the deadline's error, and
     * StatusError if REST rejects the token
     */
    async create(
      request: DocumentRequest,
      callContext: CallContext,
      loaders: Loaders,
    ): Promise<CreatedDocument> {
      const halfTime = new CancelSource();
      const halfMs = callContext.deadline.remainingMs() - operationTimeoutMs / 2;
      const timer = setTimeout(() => halfTime.abort(undefined), Math.max(0, halfMs));
      try {
        const place = await takePlace(callContext, halfTime);
        try {
          return await make(request, callContext, loaders, halfTime);
        } finally {
          places.release(place);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    /**
     * Notes a token that REST has accepted, so that its links can take its slots for labels: a link carries no token.
     * Other tokens share their slots by connection.
     */
    noteToken({ bearer, tenant, owner }: CallContext): void {
      const holder = owner.connection === undefined ? store.holderOf(bearer) : undefined;
      if (holder !== undefined) holders.note(holder, tenant);
    },
    /** The document of an id, and whose slot it takes. @throws StoreUnavailableError */
    async find(id: string): Promise<{ document: StoredDocument; owner: Owner } | undefined> {
      const document = documentIdForm.test(id) ? await store.find(id) : undefined;
      return document && { document, owner: holders.ownerOf(document.holder) };
    },
    /** Ends the documents of a token that REST has rejected. */
    onTokenRejected(bearer: string): void {
      const holder = store.holderOf(bearer);
      if (holder === undefined) return;
      for (const work of running) if (work.holder === holder) work.isRejected = true;
      store.endAll(holder);
    },
    async close(): Promise<void> {
      maker.close();
      await store.close();
    },
  };
}

/** A shipment of the request, and its label or what is known of it. */
interface FoundShipment {
  id: ResourceName<'shipments'>;
  shipment: ShipmentJson | null;
  /** The label, or why there is none. Undefined while the label is not read. */
  file: LabelFile | { outcome: 'NOT_FOUND'; message: string } | undefined;
}

const isPrinted = (one: FoundShipment): one is FoundShipment & { file: { bytes: Uint8Array } } =>
  one.file !== undefined && 'bytes' in one.file;

/** Reads the shipments in one batch. `file` stays undefined for those that have a label. */
async function readShipments(
  { shipments }: DocumentRequest,
  { shipmentById }: Loaders,
  halfTime: CancelSource,
): Promise<FoundShipment[]> {
  return Promise.all(
    shipments.map(async (id): Promise<FoundShipment> => {
      try {
        const shipment = await untilAborted(shipmentById.load(id), halfTime);
        if (shipment === undefined)
          throw new DeadlineError('The shipment was not read within half of the time limit of the operation');
        if (shipment === null)
          return { id, shipment, file: { outcome: 'NOT_FOUND', message: 'This shipment does not exist.' } };
        return { id, shipment, file: shipment.label ? undefined : notReady(shipment) };
      } catch (error) {
        return { id, shipment: null, file: { error } };
      }
    }),
  );
}

function notReady({ status }: ShipmentJson): LabelFile {
  const state = status === undefined ? '' : ` Its status is ${status}.`;
  return { outcome: 'NOT_READY', message: `This shipment has no label.${state}` };
}

function toRow({ id, shipment }: FoundShipment) {
  return {
    id: id.slice('shipments/'.length),
    courier: textOf(shipment?.courier)?.replace(/^couriers\//, '') ?? '?',
    locality: textOf(shipment?.recipient?.address?.locality) ?? '',
  };
}

/** Undefined for a value of another type, which REST may send in place of a text. */
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** @param result what became of the label in the document. Undefined for a shipment whose label is not printed */
function toEntry(
  { id, shipment, file }: FoundShipment,
  result?: { page: number } | { problem: string },
): DocumentEntry {
  const one = { id, shipment };
  if (result !== undefined && 'page' in result) return { ...one, outcome: 'INCLUDED', page: result.page };
  if (result !== undefined) return { ...one, outcome: 'UNREADABLE', message: result.problem };
  if (file !== undefined && 'outcome' in file) return { ...one, ...file };
  const error = file !== undefined && 'error' in file ? file.error : undefined;
  return { ...one, outcome: 'FAILED', error };
}
