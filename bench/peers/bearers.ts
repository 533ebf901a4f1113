const length = 48;
let count = 0;

/** An access token that nobody has used, as long as they often are. */
export function newBearer(): string {
  return `new-${++count}-`.padEnd(length, '0');
}

/** The one of those who share. */
export function oneBearer(): string {
  return 'constant-'.padEnd(length, '0');
}
