/** The options of a time that REST may leave out. */
export const optionalTime = (description: string) =>
  ({ type: 'DateTime', nullable: true, description }) as const;
