import { enableCompileCache } from 'node:module';

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
