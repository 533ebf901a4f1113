/**
 * Whether a `content-type` is JSON in UTF-8. Media types and the names of parameters match in any case and with blanks
 * around them, as in HTTP.
 */
export function isJson(contentType: string | null): boolean {
  if (contentType === null) return false;
  // What nearly all clients send.
  if (contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  if (mediaType.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^(utf-?8|"utf-?8")$/.test(value.trim());
  });
}
