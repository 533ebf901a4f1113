import { enableCompileCache } from 'node:module';

// Imported before all other modules. An older Node that runs TypeScript would fail in those modules with an unclear
// error. A Node that does not run TypeScript fails before this module.
const major = Number(process.versions.node.split('.')[0]);

if (major < 24) {
  process.stderr.write(
    `Waybill needs Node 24 or newer, but this is Node ${process.versions.node}. ` +
      'Start it with "npm start", which uses the Node 24 that "npm ci" has installed.\n',
  );
  process.exit(1);
}

// Caches compiled code, so that later starts are faster. The cache is in the system's temporary folder and holds the
// modules that are imported from here on. With NODE_COMPILE_CACHE, as `npm start` sets it, Node caches all modules in
// that folder.
enableCompileCache();
