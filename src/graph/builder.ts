import SchemaBuilder from '@pothos/core';
import type { Context } from './context.ts';

/**
 * The Pothos builder. It declares the scalars and the context of resolvers. Each GraphQL type has its own file. The
 * `description` of a type is its docstring.
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    Cents: { Input: number; Output: number };
    URL: { Input: string; Output: string };
  };
}>({ defaultFieldNullability: false });
