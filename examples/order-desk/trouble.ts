import type { Faults } from '../../src/sandbox/sandbox.ts';

const troubles = ['none', 'third', 'down', 'slow'] as const;

/** What the switch of the desk can do to the sandbox: nothing, a third of the shipments, all of REST, or 3 seconds. */
export type Trouble = (typeof troubles)[number];

export const isTrouble = (text: string): text is Trouble => troubles.some((trouble) => trouble === text);

/** The identifiers of about a third of the shipments. */
const unlucky = /[0369bcfilorux]$/;

export function addTrouble(trouble: Trouble, faults: Faults): void {
  if (trouble === 'slow') faults.add({ kind: 'delay', delayMs: 3_000 });
  if (trouble === 'down') faults.add({ kind: 'status', status: 503 });
  if (trouble !== 'third') return;
  // The list lacks them, so the server reads each by its id.
  faults.add({ kind: 'change', method: 'GET', path: '/v1/shipments', change: withoutUnlucky });
  const path = new RegExp(`^/v1/shipments/[^/]*${unlucky.source.slice(0, -1)}(/label)?$`);
  faults.add({ kind: 'status', status: 503, path });
}

function withoutUnlucky(answer: unknown): unknown {
  const { shipments } = Object(answer);
  if (!Array.isArray(shipments)) return answer;
  return { ...Object(answer), shipments: shipments.filter(({ name }) => !unlucky.test(name)) };
}
