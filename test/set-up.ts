import { afterEach, vi } from 'vitest';

// Files of a worker share its globals: a clock or a spy that a failed test leaves behind would reach the next file.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
