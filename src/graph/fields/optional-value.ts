/** The options of a time or a URL that REST may leave out, or send as an empty text. Both are null. */
export const optionalValue = <Type extends 'DateTime' | 'URL', Source>(
  type: Type,
  description: string,
  read: (source: Source) => string | null | undefined,
) => ({
  type,
  nullable: true as const,
  description,
  resolve: (source: Source) => {
    const value = read(source);
    return value === '' ? null : value;
  },
});
