import { getHeapStatistics, setFlagsFromString } from 'node:v8';

// Below it, memory is worth more than what the growth of the heap saves.
const roomyHeapBytes = 1_073_741_824;

/**
 * Sets the process up for what it does from now on, which is to serve. To be called once it listens, and not before: V8
 * refuses code that was compiled under other flags, so that of all that is loaded after this nothing compiled before serves,
 * Node's own code included.
 */
export function tuneForServing(): void {
  // V8 makes what has lived long at times in the space of what is old from then on. Here that is what belongs to an operation,
  // as those of a busy second live long enough: once it has ended, it kept all rows of its operation there until a full
  // collection of garbage, and each collection before that moved them. Large lists took a quarter to a half more time by that.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // How much larger the heap becomes, in percent, than what lived in it, until all of it is collected. V8 derives that from how
  // quickly objects become old, which is slowly here, so that it takes its least: a tenth more, or a few megabytes. Each such
  // collection takes a second core for a while, and compiled code goes with closures of which none is there at that moment. What
  // lives is about 40 MB in a busy server; the maximum size of the heap holds as before.
  if (getHeapStatistics().heap_size_limit >= roomyHeapBytes) setFlagsFromString('--heap-growing-percent=150');
}
