import { setFlagsFromString } from 'node:v8';

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
  // A collection of the whole heap is due once it is so much larger, in percent, than what lived after the last one. V8 decides
  // that by how quickly things become old, which is so slowly here that it would collect after each few megabytes: each time a
  // second core is taken for a while, and code compiled for closures of which none is there has to be compiled anew. About
  // 40 MB live in a busy server.
  setFlagsFromString('--heap-growing-percent=200');
}
