import { workerData } from 'node:worker_threads';

// A thread, because the PDF library holds the event loop of its own. It ends the whole process at the bound of memory, and
// when the server is gone: then nobody else would end a label that never ends.
const checkEveryMs = 20;
const { maxResidentBytes, parent } = workerData;

setInterval(() => {
  // A signal that nobody else sends, so that the server knows the reason.
  if (process.memoryUsage.rss() > maxResidentBytes) process.kill(process.pid, 'SIGUSR2');
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, checkEveryMs);
