/** The program of the process that makes documents. The server starts it (pdf-maker.ts) and sends it the labels. */

import { Worker } from 'node:worker_threads';
import { boundInflation } from './bounded-streams.ts';
import { createComposition, type DocumentForm, type LabelResult } from './compose.ts';
import type { SummaryRow } from './summary-page.ts';

/** What the server sends for a document: its form, each label, and the end. */
export type Request =
  | { kind: 'begin'; form: DocumentForm }
  | { kind: 'label'; bytes: Uint8Array }
  | { kind: 'end'; summary: readonly SummaryRow[] | undefined };

/** The answers: one for the beginning and for each label, and after the end the document in parts. */
export type Reply =
  | { kind: 'begun' }
  | { kind: 'label'; result: LabelResult }
  | { kind: 'part'; bytes: Uint8Array }
  | { kind: 'done'; pages: number };

/** The bound of this process in MiB. The heap ends before, so that what it leaves is for buffers. */
const maxResidentMib = 384;

/** Small enough that the server reads a part in less than a millisecond. */
const partBytes = 262_144;

let composition: Awaited<ReturnType<typeof createComposition>> | undefined;

function send(reply: Reply): void {
  process.send?.(reply);
}

async function handle(request: Request): Promise<void> {
  if (request.kind === 'begin') {
    composition = await createComposition(request.form);
    send({ kind: 'begun' });
    return;
  }
  if (composition === undefined) throw new Error('A document has no beginning.');
  if (request.kind === 'label') {
    send({ kind: 'label', result: await composition.add(request.bytes) });
    return;
  }
  const { bytes, pages } = await composition.finish(request.summary);
  composition = undefined;
  for (let start = 0; start < bytes.length; start += partBytes)
    send({ kind: 'part', bytes: bytes.slice(start, start + partBytes) });
  send({ kind: 'done', pages });
}

// A supervisor or a terminal signals all processes of the server. The server ends this one when its documents are made.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});

const watch = new Worker(new URL('./process-watch.ts', import.meta.url), {
  workerData: { maxResidentBytes: maxResidentMib * 1_048_576, parent: Number(process.argv[2]) },
});
watch.unref();
boundInflation();

let last = Promise.resolve();
process.on('message', (request: Request) => {
  // An error ends the process, and with it the document.
  last = last.then(() => handle(request));
});
