import { type ChildProcess, fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Cancellation } from '../concurrency/cancellation.ts';
import { PdfProcessError } from './errors.ts';
import type { DocumentForm, LabelResult } from './pdf/compose.ts';
import type { Reply, Request } from './pdf/pdf-process.ts';
import type { SummaryRow } from './pdf/summary-page.ts';

/** The process that makes documents ends after this time without one. */
const defaultIdleMs = 30_000;

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
  /** For tests: called with each new process. */
  onProcess?: ((process: ChildProcess) => void) | undefined;
}

export type PdfMaker = ReturnType<typeof createPdfMaker>;

/**
 * Makes documents in one process of its own, one after the other. The event loop of this process only passes bytes on,
 * and a label that takes all memory or never ends takes one document with it.
 */
export function createPdfMaker({ idleMs = defaultIdleMs, onProcess }: PdfMakerOptions = {}) {
  let child: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let running = 0;

  function start(): ChildProcess {
    clearTimeout(idleTimer);
    if (child !== undefined) return child;
    // Without the environment, which has secrets. The name of the file works for sources and in the image.
    const started = fork(new URL('./pdf/pdf-process.ts', import.meta.url), [], {
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
  function rest(): void {
    child?.unref();
    child?.channel?.unref();
    idleTimer = setTimeout(stop, idleMs).unref();
  }

  async function makeNext(composition: Composition, signal: Cancellation): Promise<MadeDocument> {
    if (signal.aborted) throw signal.reason;
    const used = start();
    used.ref();
    used.channel?.ref();
    try {
      return await converse(used, composition, signal);
    } catch (error) {
      // What the process still does is for nobody.
      if (child === used) stop();
      throw error;
    }
  }

  return {
    /** Starts the process, so that it is ready once a document has its labels. */
    prepare(): void {
      if (running > 0) return;
      start();
      rest();
    },
    /**
     * Makes a document when those before it are made.
     * @throws PdfProcessError, and the reason of `signal`.
     */
    async make(composition: Composition, signal: Cancellation): Promise<MadeDocument> {
      running += 1;
      const made = last.then(() => makeNext(composition, signal));
      last = made
        .catch(() => {})
        .then(() => {
          running -= 1;
          if (running === 0) rest();
        });
      return made;
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

/** Sends the parts of a document, and collects the replies. */
async function converse(
  child: ChildProcess,
  { form, labels, summary }: Composition,
  signal: Cancellation,
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
  const onEnd = () => fail(new PdfProcessError());
  const onMessage = (reply: Reply) => {
    if (reply.kind === 'part') parts.push(reply.bytes);
    else if (reply.kind === 'done') done.resolve(reply.pages);
    else if (results.push(reply.result) === labels.length) allRead.resolve();
  };
  signal.addEventListener('abort', onAbort);
  child.on('message', onMessage).on('exit', onEnd).on('error', onEnd);
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
      // Clears the process of the document.
      await send({ kind: 'begin', form });
      return { results, file: undefined };
    }
    await send({ kind: 'end', summary: summary?.(results) });
    const pages = await done.promise;
    return { results, file: { parts, pages } };
  } finally {
    signal.removeEventListener('abort', onAbort);
    child.off('message', onMessage).off('exit', onEnd).off('error', onEnd);
  }
}
