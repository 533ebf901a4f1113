import { markdownTable, megabytes, shown } from '../markdown-table.ts';
import { type Measured, medianOf, shareOf } from './rounds.ts';
import { described, hasLoad, type Load, loads, type Scenario } from './scenarios.ts';
import { limitName, waybillName } from './servers.ts';
import { type WorkloadName, workloads } from './workloads.ts';

/** The results of one scenario. */
export interface Result {
  scenario: Scenario;
  measured: readonly Measured[];
  /** The number of calls of the hand-written server that wait for each other. */
  turns: number;
}

/** A target, and a function that compares the results with it. */
interface Target {
  /** The workload. Also the load, unless it is a new bearer on every request without a delay. */
  asked: string;
  title: string;
  /** Returns undefined if the run did not measure the needed scenarios. */
  held: (results: readonly Result[]) => Held | undefined;
}

interface Held {
  came: string;
  isMet: boolean;
}

/** By default, targets are in requests per second, with a new bearer on every request and without a delay of REST. */
const targets: readonly Target[] = [
  timesOther('shipments', 0.8, limitName),
  timesOther('shipments', 10, 'Apollo Server'),
  timesBestPeer('shipments', 4),
  timesOther('deep', 0.75, limitName),
  timesOther('order', 0.75, limitName),
  timesBestPeer('order', 1),
  timesOther('typename', 0.8, limitName),
  timesBestPeer('typename', 1),
  timesCriticalPath('shipments', 1.3),
  timesCriticalPath('deep', 1.3),
  memoryOfLimit(1.3, 100),
];

/** A table of all targets: the target, the result, and whether the target is met. */
export function targetsTable(results: readonly Result[]): string {
  const head = ['asked', 'target', 'came', 'met'];
  const rows = targets.map(({ asked, title, held }) => {
    const seen = held(results);
    return [asked, title, ...(seen ? [seen.came, seen.isMet ? 'yes' : 'no'] : ['not measured', ''])];
  });
  return markdownTable(head, rows, head.length);
}

function resultOf(results: readonly Result[], workload: WorkloadName, load: Load): Result | undefined {
  return results.find(({ scenario }) => scenario.workload === workload && hasLoad(scenario, load));
}

function of(name: string, result: Result | undefined): Measured | undefined {
  return result?.measured.find((measured) => measured.name === name);
}

function timesOther(workload: WorkloadName, least: number, other: string): Target {
  return {
    asked: workloads[workload].title,
    title: `at least ${least} ${other === limitName ? 'of' : 'times'} ${other}`,
    held(results) {
      const result = resultOf(results, workload, loads.full);
      return timesAsMany(of(waybillName, result), of(other, result), least);
    },
  };
}

function timesBestPeer(workload: WorkloadName, least: number): Target {
  return {
    asked: workloads[workload].title,
    title: least === 1 ? 'ahead of every peer' : `at least ${least} times the best peer`,
    held(results) {
      const result = resultOf(results, workload, loads.full);
      const otherServers =
        result?.measured.filter(({ name }) => name !== waybillName && name !== limitName) ?? [];
      const speed = ({ rounds }: Measured) => medianOf(rounds, 'requestsPerSecond');
      const best = otherServers.toSorted((one, other) => speed(other) - speed(one))[0];
      const held = timesAsMany(of(waybillName, result), best, least);
      return held && { ...held, came: `${held.came}, ${best?.name}` };
    },
  };
}

/** Compares requests per second and CPU time, because the machine may have slowed one of the two servers. */
function timesAsMany(
  one: Measured | undefined,
  other: Measured | undefined,
  least: number,
): Held | undefined {
  if (one === undefined || other === undefined) return undefined;
  const times = shareOf(one.rounds, other.rounds, 'requestsPerSecond');
  const ofCpu = shareOf(other.rounds, one.rounds, 'cpuUsPerRequest');
  return {
    came: `${times.toFixed(2)} (${ofCpu.toFixed(2)} by CPU time)`,
    isMet: Math.min(times, ofCpu) >= least,
  };
}

/**
 * The critical path has two estimates: the time of the hand-written server, and the number of its calls that wait for
 * each other, each as long as a single call.
 */
function timesCriticalPath(workload: WorkloadName, most: number): Target {
  const { oneClient } = loads;
  return {
    asked: `${workloads[workload].title}, ${oneClient.delayMs} ms, one client`,
    title: `at most ${most} times the critical path`,
    held(results) {
      const result = resultOf(results, workload, oneClient);
      const [waybill, limit] = [of(waybillName, result), of(limitName, result)];
      const alone = of(limitName, resultOf(results, 'order', oneClient));
      if (result === undefined || waybill === undefined || limit === undefined || alone === undefined)
        return undefined;
      const callMs = medianOf(alone.rounds, 'p50Ms');
      const limitMs = medianOf(limit.rounds, 'p50Ms');
      const timesLimit = shareOf(waybill.rounds, limit.rounds, 'p50Ms');
      const timesCalls = medianOf(waybill.rounds, 'p50Ms') / (callMs * result.turns);
      return {
        came:
          `${timesLimit.toFixed(2)} of ${limitName}'s ${shown(limitMs)} ms, ` +
          `${timesCalls.toFixed(2)} of ${result.turns} × ${shown(callMs)} ms`,
        isMet: Math.max(timesLimit, timesCalls) <= most,
      };
    },
  };
}

/** Compares the peak memory in the least favourable scenario with a new bearer on every request. */
function memoryOfLimit(times: number, moreMegabytes: number): Target {
  return {
    asked: 'peak memory, wherever the bearer is new',
    title: `at most ${times} times that of ${limitName} and ${moreMegabytes} MB`,
    held(results) {
      const cells = results.flatMap((result) => {
        const [waybill, limit] = [of(waybillName, result), of(limitName, result)];
        if (result.scenario.bearer !== 'new' || waybill === undefined || limit === undefined) return [];
        const [came, ofLimit] = [megabytes(waybill.peakBytes), megabytes(limit.peakBytes)];
        return [{ scenario: result.scenario, came, ofLimit, most: times * ofLimit + moreMegabytes }];
      });
      const [worst] = cells.toSorted((one, other) => one.most - one.came - (other.most - other.came));
      if (worst === undefined) return undefined;
      const { scenario, came, ofLimit, most } = worst;
      return {
        came:
          `${shown(came)} MB where ${limitName} has ${shown(ofLimit)}: ` +
          `${workloads[scenario.workload].title}, ${described(scenario)}`,
        isMet: came <= most,
      };
    },
  };
}
