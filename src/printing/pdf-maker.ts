import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { type Cancellation, untilAborted } from '../concurrency/cancellation.ts';
import { PdfProcessError } from './errors.ts';
import type { DocumentForm, LabelResult } from './pdf/compose.ts';
import type { Reply, Request } from './pdf/pdf-process.ts';
import type { SummaryRow } from './pdf/summary-page.ts';

/** The process that makes documents ends after this time without one. */
const defaultIdleMs = 30_000;
/** A label takes a few milliseconds, and at the bounds of its file a second. */
const defaultLabelMs = 7_500;

/** What a document is made of. */
export interface Composition {
  form: DocumentForm;
  labels: readonly Uint8Array[];
  /** The rows of the summary, once it is known which labels are in the document. Undefined without a summary. */
  summary: ((results: readonly LabelResult[]) => SummaryRow[]) | undefined;
}

export interface MadeDocument {
  /** One for each label. */
  results: LabelResult[];
  /** Undefined if no label can be read. */
  file: { parts: Uint8Array[]; pages: number } | undefined;
}

export interface PdfMakerOptions {
  idleMs?: number | undefined;
  /** How long the process may take for one label. By default a quarter of the usual time of an operation. */
  labelMs?: number | undefined;
  /** For tests: called with each new process. */
  onProcess?: ((process: ChildProcess) => void) | undefined;
}

export type PdfMaker = ReturnType<typeof createPdfMaker>;

/**
 * Makes documents in one process of its own, one after the other. The event loop of this process only passes bytes on,
 * and a label that takes all memory or never ends is left out of its document.
 */
export function createPdfMaker(options: PdfMakerOptions = {}) {
  const { idleMs = defaultIdleMs, labelMs = defaultLabelMs, onProcess } = options;
  let child: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  /** Ends with the latest document that was asked for. */
  let last: Promise<unknown> = Promise.resolve();
  /** The documents that are made or wait. */
  let pending = 0;

  function start(): ChildProcess {
    clearTimeout(idleTimer);
    if (child !== undefined) return child;
    // Without the environment, which has secrets. The name of the file works for sources and in the image.
    const started = fork(new URL('./pdf/pdf-process.ts', import.meta.url), [String(process.pid)], {
      env: {},
      execArgv: ['--max-old-space-size=256', '--v8-pool-size=1', '--no-warnings'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child = started;
    lowerPriority(started);
    const forget = () => {
      if (child === started) child = undefined;
    };
    started.once('exit', forget);
    started.on('error', forget);
    onProcess?.(started);
    return started;
  }

  function stop(): void {
    clearTimeout(idleTimer);
    child?.kill('SIGKILL');
    child = undefined;
  }

  /** Without a document, the process keeps neither itself nor this process alive for long. */
  function stopLater(): void {
    clearTimeout(idleTimer);
    if (child === undefined) return;
    child.unref();
    child.channel?.unref();
    idleTimer = setTimeout(stop, idleMs).unref();
  }

  async function makeOnce(composition: Composition, signal: Cancellation): Promise<MadeDocument> {
    if (signal.aborted) throw signal.reason;
    const used = start();
    used.ref();
    used.channel?.ref();
    try {
      return await converse(used, composition, signal, labelMs);
    } catch (error) {
      // What the process still does is for nobody.
      if (child === used) stop();
      throw error;
    }
  }

  /** A label that ends the process is left out, and the others are made again: once. */
  async function makeNext(composition: Composition, signal: Cancellation): Promise<MadeDocument> {
    try {
      return await makeOnce(composition, signal);
    } catch (error) {
      if (!(error instanceof EndedByLabelError)) throw error;
      const labels = composition.labels.with(error.index, new Uint8Array());
      const made = await makeOnce({ ...composition, labels }, signal);
      made.results[error.index] = { problem: 'The PDF needs too much time or memory to be read.' };
      return made;
    }
  }

  return {
    /** Starts the process, so that it is ready once a document has its labels. */
    prepare(): void {
      if (pending > 0) return;
      start();
      stopLater();
    },
    /**
     * Makes a document when those before it are made.
     * @throws PdfProcessError, and the reason of `signal`.
     */
    async make(composition: Composition, signal: Cancellation): Promise<MadeDocument> {
      pending += 1;
      const made = last.then(() => makeNext(composition, signal));
      last = made
        .catch(() => {})
        .then(() => {
          pending -= 1;
          if (pending === 0) stopLater();
        });
      // The deadline also ends the wait for other documents.
      const document = await untilAborted(made, signal);
      if (document === undefined) throw signal.reason;
      return document;
    },
    /** Ends the process at once. */
    close: stop,
  };
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    // On a machine without a free processor, other requests come first.
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process may have ended, or the system may not allow it. The document is made all the same.
  }
}

/** By these signals, somebody else ends the process. */
const fromOutside = new Set<NodeJS.Signals | null>(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);

/** The process ended at a label, and not because somebody else killed it. */
class EndedByLabelError extends PdfProcessError {
  readonly index: number;

  constructor(index: number) {
    super();
    this.index = index;
  }
}

/**
 * Sends the parts of a document, and collects the replies (`Request` and `Reply`). The process answers each label in its
 * sequence, so the number of results tells which label it reads.
 */
async function converse(
  child: ChildProcess,
  { form, labels, summary }: Composition,
  signal: Cancellation,
  labelMs: number,
): Promise<MadeDocument> {
  const results: LabelResult[] = [];
  const parts: Uint8Array[] = [];
  const allRead = Promise.withResolvers<void>();
  const done = Promise.withResolvers<number>();
  const fail = (error: unknown) => {
    allRead.reject(error);
    done.reject(error);
  };
  // One of them may be rejected before anybody waits for it.
  allRead.promise.catch(() => {});
  done.promise.catch(() => {});
  const onAbort = () => fail(signal.reason);
  /** Runs while the process reads a label. At its end, the label is given up. */
  let labelTimer: NodeJS.Timeout | undefined;
  const failAtLabel = () => fail(new EndedByLabelError(results.length));
  const onError = () => fail(new PdfProcessError());
  const onExit = (_code: number | null, killedBy: NodeJS.Signals | null) =>
    labelTimer === undefined || fromOutside.has(killedBy) ? onError() : failAtLabel();
  const expectLabel = () => {
    clearTimeout(labelTimer);
    labelTimer = results.length < labels.length ? setTimeout(failAtLabel, labelMs) : undefined;
  };
  const onMessage = (reply: Reply) => {
    if (reply.kind === 'label') results.push(reply.result);
    if (reply.kind === 'label' || reply.kind === 'begun') expectLabel();
    if (reply.kind === 'part') parts.push(reply.bytes);
    else if (reply.kind === 'done') done.resolve(reply.pages);
    else if (results.length === labels.length) allRead.resolve();
  };
  signal.addEventListener('abort', onAbort);
  child.on('message', onMessage).on('exit', onExit).on('error', onError);
  const send = (request: Request) =>
    new Promise<void>((resolve) => {
      // An error is that of a process that has ended, which `exit` reports.
      child.send(request, () => resolve());
    });
  try {
    await send({ kind: 'begin', form });
    // One after the other, so that other requests have their turn in between.
    for (const bytes of labels) await Promise.race([send({ kind: 'label', bytes }), done.promise]);
    await allRead.promise;
    if (results.every((result) => 'problem' in result)) {
      // A new beginning, because the process would keep this document until the next one.
      await send({ kind: 'begin', form });
      return { results, file: undefined };
    }
    await send({ kind: 'end', summary: summary?.(results) });
    const pages = await done.promise;
    return { results, file: { parts, pages } };
  } finally {
    clearTimeout(labelTimer);
    signal.removeEventListener('abort', onAbort);
    child.off('message', onMessage).off('exit', onExit).off('error', onError);
  }
}
