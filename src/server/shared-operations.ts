import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { Lifetime } from '../rest/lifetime.ts';
import type { Tenant } from '../rest/tenant.ts';
import { type CallerContext, type OperationContext, waitFor } from './context.ts';
import type { ExchangeContext } from './log/exchange.ts';

/** A query under way. */
interface Flight {
  answer: Promise<ExecutionResult>;
  lifetime: Lifetime;
}

/**
 * Runs equal queries of one tenant that are under way at the same time once, for all who asked. Each is answered as if it
 * were alone, and the query goes on until all have gone. Nothing is kept once it is answered. Stands behind the plugins
 * that choose how an operation is run, and what is added to its result.
 */
export function sharedOperations(): Plugin<OperationContext> {
  const flightsByTenant = new WeakMap<Tenant, Map<string, Flight>>();

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: OperationContext & YogaInitialContext & ExchangeContext = args.contextValue;
      if ('missingBearer' in context) return;
      const text = args.document.loc?.source.body;
      const operation = getOperationAST(args.document, args.operationName)?.operation;
      if (text === undefined || operation !== 'query') return;

      const variables = JSON.stringify(args.variableValues);
      // JSON has null for a number like 1e400, which is read as an infinite one.
      if (variables?.includes('null') && !areFinite(args.variableValues)) return;

      const { tenant, lifetime, request, exchange } = context;
      const flights = flightsByTenant.get(tenant) ?? new Map<string, Flight>();
      flightsByTenant.set(tenant, flights);
      const key = JSON.stringify([text, args.operationName, variables, ...circumstances(context)]);

      setExecuteFn(async (executionArgs) => {
        let flight = flights.get(key);
        if (flight === undefined || !isWorthJoining(flight, lifetime)) {
          // A stream would be a subscription's or one of @defer's, and the schema has neither.
          flight = { answer: Promise.resolve(executeFn(executionArgs)), lifetime };
          takeOff(flights, key, flight);
        } else {
          waitFor(flight.lifetime, request.signal);
          if (exchange !== undefined) exchange.joined = true;
        }
        // What is added to the result of one is not there for the others.
        return { ...(await flight.answer) };
      });
    },
  };
}

/** Whether all numbers of a JSON value are. It is no deeper than limits allow. */
function areFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(areFinite);
}

/** Whether most of the time that one would have alone is left, so that none is told that all of it has passed. */
function isWorthJoining(flight: Flight, own: Lifetime): boolean {
  const { signal, deadline } = flight.lifetime;
  return !signal.aborted && deadline.remainingMs() >= own.deadline.remainingMs() / 2;
}

/** What makes the same query of the same tenant another one. */
function circumstances({ tenant, showsCost }: CallerContext): unknown[] {
  // What was asked for before a write has ended may be answered as it was before.
  return [tenant.writes, showsCost];
}

function takeOff(flights: Map<string, Flight>, key: string, flight: Flight): void {
  flights.set(key, flight);
  // One that everybody has left may have a successor already.
  const land = () => {
    if (flights.get(key) === flight) flights.delete(key);
  };
  flight.answer.then(land, land);
}
