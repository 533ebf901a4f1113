import { enableCompileCache } from 'node:module';

// Imported before all other modules. Caches compiled code, so that later starts are faster. The cache is in the system's
// temporary folder and holds the modules that are imported from here on. With NODE_COMPILE_CACHE, as `npm start` sets it,
// Node caches all modules in that folder.
enableCompileCache();
