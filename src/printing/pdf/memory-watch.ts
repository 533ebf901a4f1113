import { workerData } from 'node:worker_threads';

// A thread, because the PDF library holds the event loop of its own. It ends the whole process at the bound.
const checkEveryMs = 20;

setInterval(() => {
  if (process.memoryUsage.rss() > workerData) process.kill(process.pid, 'SIGKILL');
}, checkEveryMs);
