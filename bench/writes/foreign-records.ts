import type { Random } from '../../src/sandbox/seed/random.ts';

/** The fields by which a record shows to what it belongs. */
interface Named {
  name?: string;
  referenceId?: string;
  order?: string;
  quote?: string;
}

interface Made {
  marker: string;
  kind: string;
  json: string;
}

/** A POST that gets the record of another write. */
interface AskedPost {
  kind: string;
  path: string;
  body: string;
}

/** Creates the records with which REST can answer the POSTs of other writes. */
export function createForeignRecords() {
  const made: Made[] = [];
  return {
    /** @param marker the text of the whole write that made the record */
    add: (record: Made) => void made.push(record),

    /**
     * Picks the record of another write.
     * @param hasOtherName whether the record names another reference, order, quote or conversation than the request, or
     * differs in its texts only
     * @returns undefined if there is none.
     */
    pick(marker: string, random: Random, asked: AskedPost, hasOtherName: boolean): string | undefined {
      const fitting = made.filter(
        (other) =>
          other.kind === asked.kind &&
          other.marker !== marker &&
          namesOther(asked, JSON.parse(other.json)) === hasOtherName,
      );
      return fitting.length === 0 ? undefined : random.pick(fitting).json;
    },
  };
}

function namesOther(
  { kind, path, body }: AskedPost,
  { name = '', referenceId, order, quote }: Named,
): boolean {
  const sent: Named = JSON.parse(body);
  switch (kind) {
    case 'orders':
      return referenceId !== undefined && referenceId !== sent.referenceId;
    case 'quotes':
      return order !== undefined && order !== sent.order;
    case 'shipments':
      return quote !== sent.quote;
    default: {
      // `channels/ca1/conversations/ca60`, or only the channel for a text to a phone.
      const parent = path.slice('/v1/'.length).replace(/messages$/, '');
      return !name.startsWith(parent);
    }
  }
}
