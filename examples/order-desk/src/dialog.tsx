import { type ReactNode, useEffect, useRef } from 'react';
import type { Order } from './board.tsx';
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
