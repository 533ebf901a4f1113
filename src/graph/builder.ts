import SchemaBuilder from '@pothos/core';
import type { Context } from './context.ts';

/** The Pothos builder: which scalars there are, and what a resolver is given. Types are in their own files. */
export const builder = new SchemaBuilder<{
  Context: Context;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    Cents: { Input: number; Output: number };
    URL: { Input: string; Output: string };
  };
}>({});
