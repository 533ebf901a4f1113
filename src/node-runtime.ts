import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Imported before anything else. A Node that runs TypeScript but is older than 24 would fail on the rest with words that
// help nobody; one that does not run TypeScript never comes here.
const major = Number(process.versions.node.split('.')[0]);

if (major < 24) {
  process.stderr.write(
    `Waybill needs Node 24 or newer, but this is Node ${process.versions.node}. ` +
      'Start it with "npm start", which uses the Node 24 that "npm ci" has installed.\n',
  );
  process.exit(1);
}

// Keeps compiled code for later starts, which are faster then: of all that is imported from here on in the system's folder
// for temporary files, or of everything where NODE_COMPILE_CACHE says, as `npm start` does.
enableCompileCache();

// V8 makes what has lived long at times in the space of what is old from then on. Here that is what belongs to an operation,
// as those of a busy second live long enough: once it has ended, it kept all rows of its operation there until a full
// collection of garbage, and each collection before that moved them. Large lists took a quarter to a half more time by that.
setFlagsFromString('--no-allocation-site-pretenuring');
