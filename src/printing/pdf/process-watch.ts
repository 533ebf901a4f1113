import { workerData } from 'node:worker_threads';

// A thread, because the PDF library holds the event loop of its own. It ends the whole process at the bound of memory, and
// when the server is gone: then nobody else would end a label that never ends.
const checkEveryMs = 20;
const { maxResidentBytes, parent } = workerData;

setInterval(() => {
  // Not SIGKILL, which says that somebody else ended the process.
  if (process.memoryUsage.rss() > maxResidentBytes) process.kill(process.pid, 'SIGTERM');
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, checkEveryMs);
