/** Whether a value is an absolute URL of http or https. A page may run a URL such as `javascript:` as code. */
export function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}
