/** One function per property, which makes the value from the source and from the object's other properties. */
type Makers<Source, Made> = { readonly [Name in keyof Made]: (source: Source, made: Made) => Made[Name] };

/**
 * A factory of objects whose properties are made on first access and then kept. Useful if most operations
 * need only a few of the properties.
 */
export function lazyProperties<Source, Made extends object>(
  makers: Makers<Source, Made>,
): (source: Source) => Made {
  // `makers` has exactly the keys of `Made`.
  const names = Object.keys(makers) as (keyof Made)[];

  class Lazy {
    readonly source: Source;
    /** The values in the order of `names`. An array, because properties are read for each row. */
    readonly values: unknown[] = new Array(names.length);

    constructor(source: Source) {
      this.source = source;
    }
  }
  for (const [index, name] of names.entries()) {
    const make = makers[name];
    // On the prototype: own accessors would cost more than they save (docs/design/how-it-stays-fast.md#objects).
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy & Made) {
        this.values[index] ??= make(this.source, this);
        return this.values[index];
      },
    });
  }
  // The loop above has defined all properties of `Made`.
  return (source) => new Lazy(source) as unknown as Made;
}
