import { readFileSync } from 'node:fs';
import { counted } from '../base/counted.ts';
import type { Mark } from './examination.ts';
import type { Finding, Report } from './examine.ts';

const symbols: Record<Mark, string> = { ok: '✓', warning: '!', failure: '✗', open: '?' };

/** The table for a person, and the settings. */
export function toTable(report: Report): string {
  const { findings, isUsable, calls, medianMs } = report;
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, mark, cause, remedy }) => [
    `${symbols[mark]} ${check.padEnd(width)}  ${cause}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(width + 4)}→ ${remedy}`]),
  ]);
  const isOfStore = findings
    .filter(({ check }) => check !== 'baseline')
    .map(({ check }) => check.startsWith('store: '));
  const hasService = isOfStore.includes(false);
  const examined = [...(hasService ? ['service'] : []), ...(isOfStore.includes(true) ? ['store'] : [])];
  const what = examined.join(' and this ');
  const isOpen = !isUsable && findings.every(({ mark }) => mark !== 'failure');
  const verdict = isOpen
    ? `The doctor cannot tell whether Waybill can use this ${what}.`
    : `Waybill ${isUsable ? 'can' : 'cannot'} use this ${what}.`;
  const sent = `The doctor sent ${counted(calls, 'call')}. The median duration was ${medianMs} ms.`;
  const end = hasService ? ` ${sent}\n\n${toVariables(report)}` : '';
  return `${lines.join('\n')}\n\n${verdict}${end}`;
}

/** The settings as lines that a shell, Docker and kubectl read in the same way. */
export function toVariables({ settings }: Report): string {
  // Docker keeps quotes in values, so characters that mean something to a shell are percent-encoded.
  const encode = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
  return Object.entries(settings)
    .map(([variable, value]) => `${variable}=${value.replace(/[^\w./:%[\]-]/g, encode)}\n`)
    .join('');
}

/** Reads the output of `--json`, which lines of npm may precede. @returns undefined if the file is another one. */
export function readBaseline(path: string): Report | undefined {
  try {
    const report: Report = JSON.parse(readFileSync(path, 'utf8').replace(/^[^{]*/, ''));
    return typeof report.settings === 'object' && Array.isArray(report.findings) ? report : undefined;
  } catch {
    return undefined;
  }
}

/** One report of a service, a store, or both. */
export function joinReports(reports: readonly Report[]): Report {
  const isUsable = reports.every((report) => report.isUsable);
  return {
    isUsable,
    calls: Math.max(...reports.map(({ calls }) => calls)),
    medianMs: Math.max(...reports.map(({ medianMs }) => medianMs)),
    settings: isUsable ? Object.assign({}, ...reports.map(({ settings }) => settings)) : {},
    findings: reports.flatMap(({ findings }) => findings),
  };
}

/** Adds a failure for each difference to an earlier report. Open questions and numbers do not count. */
export function compare(report: Report, baseline: Report): Report {
  const earlier = new Map(baseline.findings.map((finding) => [finding.check, finding]));
  const stable = ({ mark, cause }: Finding) => `${mark} ${cause.replace(/\d+/g, '')}`;
  const changes = report.findings.flatMap((now) => {
    const before = earlier.get(now.check);
    if (before === undefined || before.mark === 'open' || now.mark === 'open') return [];
    return stable(before) === stable(now) ? [] : [`${now.check}: ${before.cause} Now: ${now.cause}`];
  });
  const remedy = 'Check the difference, write the settings again, and save a new baseline.';
  const toFinding = (cause: string): Finding => ({ check: 'baseline', mark: 'failure', cause, remedy });
  const isUsable = report.isUsable && changes.length === 0;
  return { ...report, isUsable, findings: [...report.findings, ...changes.map(toFinding)] };
}
