import { enableCompileCache } from 'node:module';

// Imported first, because it caches the modules that are imported from here on. Later starts are then faster. With
// NODE_COMPILE_CACHE, as `npm start` sets it, Node caches all modules in that folder.
enableCompileCache();
