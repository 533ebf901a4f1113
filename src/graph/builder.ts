import SchemaBuilder from '@pothos/core';
import type { Context } from './context.ts';

/** The Pothos builder. A field is non-null by default: only a field that may lack a value says `nullable: true`. */
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

export type SchemaTypes = (typeof builder)['$inferSchemaTypes'];
