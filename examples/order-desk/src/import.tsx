import { useApolloClient } from '@apollo/client/react';
import Papa from 'papaparse';
import { type FormEvent, useRef, useState } from 'react';
import { Dialog, type DialogProps, Status, Submit } from './dialog.tsx';
import { createOrdersMutation, locationsQuery, orderByReferenceQuery } from './documents.ts';
import { fold, toCents } from './format.ts';
import type { CreateOrderInput } from './gql/graphql';
import { hashOf } from './hash.ts';
import { failureOf, faultOf, type Refusal, reasonOf } from './results.ts';
import { useTexts } from './texts.ts';

/** The columns of a file, with the fields that they become. */
const columns: Record<string, string> = {
  nombre: 'recipient.firstName',
  apellido: 'recipient.lastName',
  correo: 'recipient.email',
  telefono: 'recipient.phoneNumber',
  direccion: 'recipient.address.addressLines',
  municipio: 'recipient.location',
  contenido: 'contentDescription',
  precio: 'sellingPriceCents',
};
/** Those that a file can lack. Without `referencia`, the desk makes one, so that a lost response can be found. */
const optional: Record<string, string> = {
  departamento: 'recipient.location',
  notas: 'notes',
  recaudo: 'cashOnDeliveryRequestCents',
  referencia: 'referenceId',
};

type Row = Record<string, string>;

interface File {
  rows: Row[];
  /** Of the content. With the position of a row, it is the key of the row. */
  hash: string;
}

interface Result {
  text: string;
  /** Whether the row needs another file. Another try of this one cannot help. */
  isFaulty?: boolean;
  isCreated?: boolean;
}

/** The key of a row. Another one follows when its outcome stays unknown and the row has no order. */
interface RowKey {
  number: number;
  /** When its outcome was unknown for the first time, in milliseconds since 1970. */
  unknownSinceMs?: number;
}

/** After this time REST shows an order that it has made, and makes none any more. In milliseconds. */
const settledMs = 30_000;

/** Creates an order for each row of a CSV file, a hundred at a time. */
export function Import({ onClose }: DialogProps) {
  const texts = useTexts();
  const t = texts.import;
  const client = useApolloClient();
  const [file, setFile] = useState<File>();
  const [results, setResults] = useState<readonly (Result | undefined)[]>([]);
  const [note, setNote] = useState('');
  const [isBusy, setBusy] = useState(false);
  const keys = useRef(new Map<number, RowKey>());
  const rows = file?.rows ?? [];
  const left = rows.flatMap((_row, index) =>
    results[index]?.isCreated || results[index]?.isFaulty ? [] : index,
  );
  const faulty = rows.filter((_row, index) => results[index]?.isFaulty);

  async function open(chosen: Blob | undefined) {
    setFile(undefined);
    setResults([]);
    setNote('');
    keys.current.clear();
    if (!chosen) return;
    const bytes = await chosen.arrayBuffer();
    const hash = await hashOf(bytes);
    const utf8 = new TextDecoder().decode(bytes);
    // Excel writes the code page of Windows.
    const text = utf8.includes('\uFFFD') ? new TextDecoder('windows-1252').decode(bytes) : utf8;
    const { data, meta, errors } = Papa.parse<Row>(text, {
      header: true,
      skipEmptyLines: 'greedy',
      transformHeader: fold,
    });
    const lacking = Object.keys(columns).filter((column) => !meta.fields?.includes(column));
    if (lacking.length > 0) setNote(t.noColumns(lacking.join(', ')));
    else if (errors[0]) setNote(t.unreadable(`${errors[0].message} (${(errors[0].row ?? 0) + 2})`));
    else setFile({ rows: data, hash });
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!file || isBusy) return;
    setBusy(true);
    const after = [...results];
    const places = new Map<string, Place[] | string>();
    for (let at = 0; at < left.length; at += 100) {
      setNote(t.working(at, left.length));
      const inputs: { index: number; input: CreateOrderInput }[] = [];
      for (const index of left.slice(at, at + 100)) {
        const input = await toInput(index, places);
        if ('text' in input) after[index] = input;
        else inputs.push({ index, input });
      }
      if (inputs.length > 0) {
        const variables = { inputs: inputs.map(({ input }) => input) };
        const { data, error } = await client.mutate({ mutation: createOrdersMutation, variables });
        for (const [place, { index }] of inputs.entries())
          after[index] = toResult(index, data?.createOrders?.[place], error);
      }
      setResults([...after]);
    }
    const created = after.filter((result) => result?.isCreated).length;
    setNote(t.sum(created, rows.length - created));
    setBusy(false);
    await client.refetchQueries({ include: ['Board'] });
  }

  type Place = { id: string; locality: string; administrativeArea: string };

  /** The input of a row, or its fault. The graph finds one municipality at a time, so each is asked once. */
  async function toInput(
    index: number,
    places: Map<string, Place[] | string>,
  ): Promise<Result | CreateOrderInput> {
    const row = rows[index] ?? {};
    const cell = (column: string) => row[column]?.trim() ?? '';
    const [precio, recaudo] = ['precio', 'recaudo'].map((column) =>
      column === 'recaudo' && cell(column) === '' ? 0 : toCents(cell(column)),
    );
    if (precio === undefined) return { text: t.wrongAmount('precio'), isFaulty: true };
    if (recaudo === undefined) return { text: t.wrongAmount('recaudo'), isFaulty: true };
    const search = cell('municipio');
    if (search && !places.has(search)) {
      const { data, error } = await client.query({ query: locationsQuery, variables: { search } });
      const found = data?.locations?.nodes?.flatMap((location) => location ?? []);
      places.set(search, found ?? failureOf(error, texts));
    }
    const found = places.get(search) ?? [];
    if (typeof found === 'string') return { text: found };
    const referenceId = cell('referencia') || `CSV-${file?.hash.slice(0, 8)}-${index + 1}`;
    const same = found.filter(
      ({ locality, administrativeArea }) =>
        fold(locality) === fold(search) &&
        (!cell('departamento') || fold(administrativeArea) === fold(cell('departamento'))),
    );
    if (same.length > 1) return { text: t.manyCities, isFaulty: true };
    if (!same[0]) return { text: t.noCity, isFaulty: true };
    const idempotencyKey = await keyOf(index, referenceId);
    if (typeof idempotencyKey !== 'string') return idempotencyKey;
    return {
      recipient: {
        firstName: cell('nombre'),
        lastName: cell('apellido'),
        email: cell('correo'),
        phoneNumber: cell('telefono'),
        address: { addressLines: [cell('direccion')] },
        location: same[0].id,
      },
      contentDescription: cell('contenido'),
      notes: cell('notas') || cell('contenido'),
      sellingPriceCents: precio,
      cashOnDeliveryRequestCents: recaudo,
      referenceId,
      idempotencyKey,
    };
  }

  /** The key of a row, or the result of the row if an earlier key has made its order. */
  async function keyOf(index: number, referenceId: string): Promise<string | Result> {
    let key = keys.current.get(index) ?? { number: 1 };
    if (key.unknownSinceMs !== undefined && Date.now() - key.unknownSinceMs >= settledMs) {
      const { data, error } = await client.query({
        query: orderByReferenceQuery,
        variables: { referenceId },
        fetchPolicy: 'network-only',
      });
      if (error || !data) return { text: failureOf(error, texts) };
      if (data.orderByReference) return { text: t.created, isCreated: true };
      key = { number: key.number + 1 };
    }
    keys.current.set(index, key);
    return [file?.hash, index + 1, ...(key.number > 1 ? [key.number] : [])].join('-');
  }

  function toResult(index: number, result: Refusal | undefined, error: Error | undefined): Result {
    if (!result) return { text: failureOf(error, texts) };
    if (result.__typename === 'CreateOrderSuccess') return { text: t.created, isCreated: true };
    const key = keys.current.get(index);
    if (key && result.__typename === 'OutcomeUnknown') key.unknownSinceMs ??= Date.now();
    const isFaulty = !['OutcomeUnknown', 'WriteFailed'].includes(result.__typename);
    const faults = result.fields?.map((field) => `${columnOf(field.path)}: ${faultOf(field, texts)}`) ?? [];
    return { text: faults.length > 0 ? faults.join('. ') : reasonOf(result, texts), isFaulty };
  }

  return (
    <Dialog title={t.title} onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          {t.file}
          <input type="file" accept=".csv,text/csv" onChange={({ target }) => open(target.files?.[0])} />
        </label>
        <small>
          {t.columns}
          {Object.keys(columns).join(', ')} ({Object.keys(optional).join(', ')})
        </small>
        <a href="/pedidos.csv" download>
          {t.sample}
        </a>
        {file && (
          <Submit isBusy={isBusy} count={left.length}>
            {t.submit(left.length)}
          </Submit>
        )}
      </form>
      <small>{t.retryHint}</small>
      <Status>{note || (file && t.rows(rows.length))}</Status>
      {faulty.length > 0 && (
        <a
          href={`data:text/csv;charset=utf-8,${encodeURIComponent(Papa.unparse(faulty))}`}
          download="fallas.csv"
        >
          {t.faulty}
        </a>
      )}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">{t.row}</th>
              <th scope="col">{t.customer}</th>
              <th scope="col">{texts.ship.result}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two rows can be equal, and rows never move
              <tr key={index}>
                <th scope="row">{index + 2}</th>
                <td>
                  {row.nombre} {row.apellido}
                </td>
                <td className={results[index]?.isCreated ? '' : 'error'}>{results[index]?.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}

const columnOf = (path: string) =>
  Object.entries({ ...columns, ...optional }).find(([, field]) => path.startsWith(field))?.[0] ?? path;
