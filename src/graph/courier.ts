import { builder } from './builder.ts';
import { expectName } from './relation.ts';

export const Courier = builder.objectRef<{ name: string }>('Courier').implement({
  description: 'A company that carries packages. The REST service tells no more of it than its id.',
  fields: (t) => ({
    id: t.exposeID('name', { nullable: false, description: '`couriers/<code>`.' }),
    code: t.string({
      nullable: false,
      description: 'The part of the id after the slash.',
      resolve: ({ name }) => name.slice('couriers/'.length),
    }),
  }),
});

/** The courier that a REST payload names, without a call. @throws InvalidResponseError for any other name. */
export function courierNamed(name: string): { name: string } {
  expectName('couriers', name);
  return { name };
}
