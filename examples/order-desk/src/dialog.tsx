import { type ReactNode, useEffect, useRef } from 'react';
import { nameOf, type Order } from './board.tsx';
import { useTexts } from './texts.ts';

export interface DialogProps {
  /** The selected ones, in the sequence of the table. */
  orders: Order[];
  onClose(): void;
}

/** The browser keeps the focus inside, closes at Escape, and gives the focus back. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose(): void;
  children: ReactNode;
}) {
  const t = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="dialog-title">
      <div className="title">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          {t.close}
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** Says what became of a form, also to those who do not see it, and comes into view. */
export function Status({ children }: { children: ReactNode }) {
  const status = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (children) status.current?.scrollIntoView({ block: 'nearest' });
  }, [children]);
  return (
    <div role="status" ref={status}>
      {children}
    </div>
  );
}

interface SubmitProps {
  children: ReactNode;
  isBusy: boolean;
  /** How much there is to do. Nothing to do refuses a press, and leaves the focus where it is. */
  count: number;
}

export function Submit({ children, isBusy, count }: SubmitProps) {
  const isOff = isBusy || count === 0;
  return (
    <button
      type="submit"
      className="primary"
      aria-disabled={isOff}
      onClick={(event) => isOff && event.preventDefault()}
    >
      {children}
    </button>
  );
}

export interface Result {
  text: string;
  isDone?: boolean;
}

/** A result for each order, by its id. */
export function Results({ orders, results }: { orders: Order[]; results: Readonly<Record<string, Result>> }) {
  const t = useTexts().ship;
  return (
    <table>
      <caption>{t.result}</caption>
      <tbody>
        {orders.map((order) => (
          <tr key={order.id}>
            <th scope="row">
              {nameOf(order)} <span className="name">{order.recipient.fullName}</span>
            </th>
            <td className={results[order.id]?.isDone ? '' : 'error'}>{results[order.id]?.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
