import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { answersLink, streamLink } from './answers.ts';
import { createLiveLink } from './waybill/apollo-live-link.ts';
import { typePolicies } from './waybill/apollo-type-policies.generated.ts';
import { possibleTypes } from './waybill/possible-types.generated.ts';
import { createSession } from './waybill/session.ts';
import { createWaybillFetch } from './waybill/waybill-fetch.ts';

// Without it, Apollo drops the data of a partial answer.
declare module '@apollo/client' {
  namespace ApolloClient.DeclareDefaultOptions {
    interface WatchQuery {
      errorPolicy: 'all';
    }
    interface Query {
      errorPolicy: 'all';
    }
    interface Mutate {
      errorPolicy: 'all';
    }
  }
}
const all = { errorPolicy: 'all' } as const;

/** A shop asks its own backend for the next token of the merchant. The desk has tokens of the sandbox only. */
const session = createSession('sandbox-cafe-andino', async () => (await fetch('/demo/token')).text());

export const apollo = new ApolloClient({
  link: ApolloLink.from([
    answersLink,
    createLiveLink(session),
    streamLink,
    // Two attempts, and not four: the board asks again by itself, and says meanwhile what is not known.
    new HttpLink({ uri: '/graphql', fetch: createWaybillFetch(session, 2) }),
  ]),
  cache: new InMemoryCache({
    possibleTypes,
    typePolicies: {
      ...typePolicies,
      // A shipment never leaves its order. So null after a failure does not take the last known one from the screen.
      Order: { fields: { shipment: { merge: (known, read) => read ?? known ?? null } } },
    },
  }),
  defaultOptions: { watchQuery: all, query: all, mutate: all },
});
