/** How each property of an object is made, from what the object is made of and its other properties. */
export type Makers<Source, Made> = {
  readonly [Name in keyof Made]: (source: Source, made: Made) => Made[Name];
};

/**
 * Objects of which each property is made when it is first asked for, and kept: for what costs more to make than most of
 * those who might need it ever ask for.
 */
export function lazyProperties<Source, Made extends object>(
  makers: Makers<Source, Made>,
): (source: Source) => Made {
  // The names of an object of this very type.
  const names = Object.keys(makers) as (keyof Made)[];

  class Lazy {
    readonly source: Source;
    /** In the order of the names, as these are read for each row. */
    readonly values: unknown[] = new Array(names.length);

    constructor(source: Source) {
      this.source = source;
    }
  }
  for (const [index, name] of names.entries()) {
    const make = makers[name];
    // On the prototype, as accessors of an object of its own would cost more than what they save.
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy & Made) {
        this.values[index] ??= make(this.source, this);
        return this.values[index];
      },
    });
  }
  // It has just been given all of them.
  return (source) => new Lazy(source) as unknown as Made;
}
