import { expect, test } from 'vitest';
import { ServiceClock } from '../../../src/rest/client/service-clock.ts';

const timeMs = Date.UTC(2026, 0, 15, 10, 30);

test.each(['Thu, 15 Jan 2026 10:30:00 GMT', '2026-01-15T10:30:00Z', '20260115T053000-0500'])(
  'the clock of the REST service is read from the date header %s',
  (date) => {
    const clock = new ServiceClock();
    clock.update(date);
    expect(clock.now()).toBeGreaterThanOrEqual(timeMs);
  },
);

test.each(['2026-01-15T10:30:00', 'Thu Jan 15 10:30:00 2026', 'soon 1', ''])(
  'the clock of the REST service is unknown after the date header %j',
  (date) => {
    const clock = new ServiceClock();
    clock.update(date);
    expect(clock.now()).toBeUndefined();
  },
);
