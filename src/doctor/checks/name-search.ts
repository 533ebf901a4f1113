import { parameterNameSettings } from '../../config/rest.ts';
import type { QueryParameterNames } from '../../rest/watch/parameter-watch.ts';
import { type Examination, failure, type Outcome, ok, open, warning } from '../examination.ts';
import { maxCalls } from '../live-service.ts';

type Parameter = keyof QueryParameterNames;

/** What a parameter did. `unclear`: the response is neither a proof nor the one without the parameter. */
export type Effect = 'proof' | 'none' | 'unclear';

const candidates: Record<Parameter, string> = {
  pageSize: 'pageSize perPage maxResults page_size per_page max_results limit size count',
  pageToken:
    'pageToken nextPageToken continuationToken nextToken page_token next_page_token continuation_token next_token cursor token after next',
  status: 'status orderStatus statusFilter order_status status_filter statuses state states filter',
  search: 'search searchText searchQuery search_text search_query q query text term keyword',
  query: 'query searchText queryString search_text query_string q search text term filter',
};

/** The calls that the checks after the names need. */
const reservedCalls = 20;

function familyOf(name: string): string {
  if (name.includes('_')) return 'snake';
  return /[A-Z]/.test(name) ? 'camel' : 'short';
}

/** The candidates for a parameter. Those of the family that was found first, and short ones, come first. */
function candidatesFor(parameter: Parameter, found: Examination['names']): string[] {
  const [family = 'camel'] = Object.values(found).map(familyOf);
  const isLater = (name: string) => Number(![family, 'short'].includes(familyOf(name)));
  return candidates[parameter].split(' ').sort((one, other) => isLater(one) - isLater(other));
}

/**
 * Finds the name of a parameter, and adds it to the names and settings of the examination. A service that ignores unknown
 * names is asked with all candidates at once, then with half of them, until one is left.
 * @param ask sends the parameter under all of these names
 */
export async function searchName(
  examination: Examination,
  parameter: Parameter,
  ask: (names: readonly string[]) => Promise<Effect>,
): Promise<Outcome> {
  const { service, names, settings, refusal } = examination;
  const { variable } = parameterNameSettings[`${parameter}Parameter`];
  const all = candidatesFor(parameter, names);
  const hasCalls = () => maxCalls - service.calls > reservedCalls;
  // Where an unknown name is refused, each name has a call of its own.
  const groups = refusal === undefined ? [all] : all.map((name) => [name]);
  let found: string | undefined;
  for (const group of groups) found ??= await findIn(group, false);
  if (found !== undefined) {
    names[parameter] = found;
    settings[variable] = found;
    return ok(`The name is ${found}, as the returned rows prove.`);
  }
  if (!hasCalls())
    return open(
      'The doctor reached its limit of calls before it had tested all names.',
      `Set ${variable} if you know the name.`,
    );
  const cause = `None of the ${all.length} tested names has an effect.`;
  const remedy = `Ask the operator of the REST service for the name of this parameter, and set ${variable} to it.`;
  const isNeeded = parameter === 'pageToken' || (parameter === 'pageSize' && refusal !== undefined);
  return isNeeded ? failure(cause, remedy) : warning(cause, remedy);

  /** @param isProven whether a name of this half has the effect: the whole has it, and the other half has not */
  async function findIn(group: readonly string[], isProven: boolean): Promise<string | undefined> {
    if (!hasCalls()) return undefined;
    // A single name is always asked: only its own response proves it.
    const effect = isProven && group.length > 1 ? 'proof' : await ask(group);
    if (effect === 'none') return undefined;
    if (group.length === 1) return effect === 'proof' ? group[0] : undefined;
    const half = Math.ceil(group.length / 2);
    const name = await findIn(group.slice(0, half), false);
    return name ?? findIn(group.slice(half), effect === 'proof');
  }
}
