/** How each property of an object is made, from what the object is made of and its other properties. */
export type Makers<Source, Made> = {
  readonly [Name in keyof Made]: (source: Source, made: Made) => Made[Name];
};

/**
 * Objects of which each property is made when it is first asked for, and kept: for what costs more to make than most of
 * those who might need it ever ask for.
 */
export function lazily<Source, Made extends object>(makers: Makers<Source, Made>): (source: Source) => Made {
  class Lazy {
    readonly source: Source;
    readonly made: Partial<Made> = {};

    constructor(source: Source) {
      this.source = source;
    }
  }
  // The names of an object of this very type.
  for (const name of Object.keys(makers) as (keyof Made)[]) {
    // On the prototype, as accessors of an object of its own would cost more than what they save.
    Object.defineProperty(Lazy.prototype, name, {
      get(this: Lazy & Made) {
        this.made[name] ??= makers[name](this.source, this);
        return this.made[name];
      },
    });
  }
  // It has just been given all of them.
  return (source) => new Lazy(source) as unknown as Made;
}
