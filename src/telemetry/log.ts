/** The log for operators. Undefined fields are omitted. */
export interface Log {
  /** Whether lines of this level are written. Lets callers skip the creation of unused fields. */
  isLevelEnabled(level: 'info' | 'debug'): boolean;
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

export const silentLog: Log = {
  isLevelEnabled: () => false,
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
};
