import type { Plugin } from 'graphql-yoga';

/** Keeps the executor, as validation, from telling which names are near to one that a variable's value lacks. */
export function hiddenSuggestions(): Plugin {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => {
        // The executor's own option, which Yoga's type of its arguments does not name.
        const silent = { ...args, hideSuggestions: true };
        return executeFn(silent);
      });
    },
  };
}
