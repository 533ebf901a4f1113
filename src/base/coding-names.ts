/** The content codings of the registry of HTTP, and common ones beside it. Each but `identity` changes the bytes. */
const knownCodings = new Set(
  (
    'aes128gcm br bzip2 compress dcb dcz deflate exi gzip lz4 lzma pack200-gzip snappy x-bzip2 x-compress x-gzip xz ' +
    'zstd'
  ).split(' '),
);

const none: readonly string[] = [];

/**
 * The codings of a `content-encoding` header, in lower case and in the order in which they were applied. Names such as
 * `identity`, `utf-8`, `binary` and `none` are no codings: services send them with unchanged bytes.
 */
export function contentCodings(header: string | string[] | null | undefined): readonly string[] {
  if (!header) return none;
  return String(header)
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => knownCodings.has(name));
}
