import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { nameOf } from './board.tsx';
import { Dialog, type DialogProps, Submit } from './dialog.tsx';
import { printMutation } from './documents.ts';
import { time } from './format.ts';
import type { LabelLayout, PrintMutation } from './gql/graphql';
import { markPrinted, usePrinted } from './printed.ts';
import { failureOf, type Refusal, reasonOf } from './results.ts';
import { useTexts } from './texts.ts';

type LabelDocument = Extract<
  PrintMutation['createLabelDocument'],
  { __typename: 'CreateLabelDocumentSuccess' }
>['document'];

const layouts: LabelLayout[] = ['A4_FOUR', 'LETTER_FOUR', 'A6', 'THERMAL_4X6_IN', 'AS_IS'];

/** Makes one PDF of the labels of the selected orders, in the sequence of the table. */
export function Print({ orders, onClose }: DialogProps) {
  const texts = useTexts();
  const t = texts.print;
  const printed = usePrinted();
  // Those of the start: an opened document marks its labels, and must not leave its own list.
  const [known] = useState(printed);
  const shipped = orders.filter(({ shipment }) => shipment);
  const without = orders.filter(({ shipment }) => !shipment);
  const again = shipped.filter(({ shipment }) => known[shipment?.id ?? '']);
  const [isAgain, setAgain] = useState(again.length === shipped.length);
  const chosen = isAgain ? shipped : shipped.filter((order) => !again.includes(order));
  const [layout, setLayout] = useState<LabelLayout>('A4_FOUR');
  const [startAt, setStartAt] = useState(1);
  const [hasSummary, setSummary] = useState(false);
  const [made, setMade] = useState<LabelDocument>();
  const [problem, setProblem] = useState('');
  const [print, { loading }] = useMutation(printMutation);
  const isSheet = layout.endsWith('_FOUR');

  async function submit(event: FormEvent) {
    event.preventDefault();
    setMade(undefined);
    setProblem('');
    const input = {
      shipments: chosen.flatMap(({ shipment }) => shipment?.id ?? []),
      layout,
      startAt: isSheet ? startAt : 1,
      summary: hasSummary,
    };
    const { data, error } = await print({ variables: { input } });
    const result = data?.createLabelDocument;
    if (result?.__typename === 'CreateLabelDocumentSuccess') setMade(result.document);
    else setProblem(result ? reasonOf(result as Refusal, texts) : failureOf(error, texts));
  }

  const nameOfShipment = (id: string) => {
    const order = orders.find(({ shipment }) => shipment?.id === id);
    return order ? `${nameOf(order)}, ${order.recipient.fullName}` : id;
  };
  const missing = made?.entries.filter(({ outcome }) => outcome !== 'INCLUDED') ?? [];
  return (
    <Dialog title={t.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{t.toPrint(chosen.length)}</p>
        {again.length > 0 && (
          <label className="check">
            <input type="checkbox" checked={isAgain} onChange={({ target }) => setAgain(target.checked)} />
            {t.reprint(again.length)}
          </label>
        )}
        <label>
          {t.layout}
          <select value={layout} onChange={({ target }) => setLayout(target.value as LabelLayout)}>
            {layouts.map((each) => (
              <option key={each} value={each}>
                {t[each]}
              </option>
            ))}
          </select>
        </label>
        {isSheet && (
          <fieldset className="cells">
            <legend>{t.startAt}</legend>
            {[1, 2, 3, 4].map((cell) => (
              <label key={cell} className={cell < startAt ? 'used' : ''}>
                <input
                  type="radio"
                  name="cell"
                  checked={startAt === cell}
                  onChange={() => setStartAt(cell)}
                />
                {cell}
              </label>
            ))}
          </fieldset>
        )}
        <label className="check">
          <input type="checkbox" checked={hasSummary} onChange={({ target }) => setSummary(target.checked)} />
          {t.summary}
        </label>
        <Submit isBusy={loading} count={chosen.length}>
          {loading ? t.working : t.submit(chosen.length)}
        </Submit>
      </form>
      <div role="status">
        {problem && <p className="error">{problem}</p>}
        {made && (
          <>
            <p>
              <a
                className="primary"
                href={made.url}
                target="_blank"
                rel="noreferrer"
                onClick={() =>
                  markPrinted(
                    made.entries.flatMap((entry) => (entry.outcome === 'INCLUDED' ? entry.shipmentId : [])),
                  )
                }
              >
                {t.open(made.labelCount, made.pageCount)}
              </a>
            </p>
            <p>{t.until(time(Date.parse(made.expireTime)))}</p>
          </>
        )}
        {missing.length > 0 && <p className="warning">{t.missing(missing.length)}</p>}
        <ul>
          {missing.map(({ shipmentId, outcome, message }) => (
            <li key={shipmentId}>
              {nameOfShipment(shipmentId)}: {t.outcomes[outcome] ?? message}
            </li>
          ))}
        </ul>
      </div>
      {without.length > 0 && (
        <>
          <p>{t.without(without.length)}</p>
          <ul>
            {without.map((order) => (
              <li key={order.id}>
                {nameOf(order)}, {order.recipient.fullName}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
