/** Where lines for operators go. Fields that are undefined are left out. */
export interface Log {
  /** Whether a line of this level would be written, so that nobody makes one for nothing. */
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
