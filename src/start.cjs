// The entry of `npm start`. It is plain CommonJS, so that an older Node can read it and say what is needed.
const major = Number(process.versions.node.split('.')[0]);

if (major < 24) {
  process.stderr.write(
    'Waybill needs Node 24 or newer, but this is Node ' +
      process.versions.node +
      '. Install Node 24, or run "npm ci", which installs it for this project.\n',
  );
  process.exitCode = 1;
} else {
  // Before the server listens, a signal ends the process at once. Without a listener, the kernel would drop SIGTERM if
  // this is the first process of a container. `endOnSignals` in src/process/signals.ts takes over.
  process.once('SIGTERM', () => process.exit());
  process.once('SIGINT', () => process.exit());
  // The cache is in the folder of NODE_COMPILE_CACHE, which `npm start` sets, or in a temporary one. It must be on before
  // the first TypeScript file, because loading the parser for TypeScript takes a tenth of a start.
  require('node:module').enableCompileCache();
  import('./main.ts');
}
