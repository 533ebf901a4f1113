import { afterEach, vi } from 'vitest';

// The test files in one worker share its globals. A failed test must not leave a fake clock or a spy to the next file.
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
