import { ApolloProvider, useFragment } from '@apollo/client/react';
import { lazy, StrictMode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { apollo } from './apollo.ts';
import { Board, type Order, Warnings } from './board.tsx';
import { orderRow } from './documents.ts';
import { Strip } from './strip.tsx';
import { TextsContext, texts } from './texts.ts';
import { TroubleSwitch } from './trouble-switch.tsx';

const dialogs = {
  ship: lazy(async () => ({ default: (await import('./ship.tsx')).Ship })),
  print: lazy(async () => ({ default: (await import('./print.tsx')).Print })),
  message: lazy(async () => ({ default: (await import('./message.tsx')).MessageDialog })),
  import: lazy(async () => ({ default: (await import('./import.tsx')).Import })),
};
const actions = ['ship', 'print', 'message'] as const;
const none: readonly string[] = [];

function Desk() {
  const [language, setLanguage] = useState(localStorage.getItem('language') === 'en' ? 'en' : 'es');
  const t = texts[language === 'en' ? 'en' : 'es'];
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = t.title;
    localStorage.setItem('language', language);
  }, [language, t]);

  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const onSelect = useCallback((orders: readonly string[], isSelected: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      for (const order of orders) {
        if (isSelected) after.add(order);
        else after.delete(order);
      }
      return after;
    });
  }, []);
  const [rows, setRows] = useState(none);
  const orders = useOrders(useMemo(() => inSequence(rows, selected), [rows, selected]));
  const [open, setOpen] = useState<keyof typeof dialogs>();
  const Dialog = open && dialogs[open];

  return (
    <TextsContext value={t}>
      <header>
        <h1>{t.title}</h1>
        <button type="button" onClick={() => setOpen('import')}>
          {t.import.title}
        </button>
        <TroubleSwitch />
        <button
          type="button"
          lang={language === 'en' ? 'es' : 'en'}
          onClick={() => setLanguage(language === 'en' ? 'es' : 'en')}
        >
          {t.otherLanguage}
        </button>
      </header>
      <Strip />
      <Board selected={selected} onSelect={onSelect} onRows={setRows} />
      <footer>
        <Warnings rows={rows} />
        <div className="actions" id="actions" tabIndex={-1}>
          <span role="status">
            {t.board.selected(selected.size)} {selected.size > 100 && t.board.tooMany}
          </span>
          {actions.map((action) => (
            <button
              key={action}
              type="button"
              className="primary"
              disabled={selected.size === 0 || selected.size > 100}
              onClick={() => setOpen(action)}
            >
              {t[action].title}
            </button>
          ))}
          <button type="button" disabled={selected.size === 0} onClick={() => setSelected(new Set())}>
            {t.board.clear}
          </button>
        </div>
      </footer>
      <Suspense>{Dialog && <Dialog orders={orders} onClose={() => setOpen(undefined)} />}</Suspense>
    </TextsContext>
  );
}

/** The selected rows as on the screen, and then those that the filters hide, in the sequence of their selection. */
function inSequence(rows: readonly string[], selected: ReadonlySet<string>): string[] {
  const shown = rows.filter((id) => selected.has(id));
  return [...shown, ...[...selected].filter((id) => !shown.includes(id))];
}

/** The orders as the cache has them, so a dialog shows the changes of the live view. */
function useOrders(ids: readonly string[]): Order[] {
  const from = useMemo(() => ids.map((id) => ({ __typename: 'Order' as const, id })), [ids]);
  const { data } = useFragment({ fragment: orderRow, fragmentName: 'OrderRow', from });
  // All of them are rows of the board, so the cache has them whole.
  return data as Order[];
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <ApolloProvider client={apollo}>
        <Desk />
      </ApolloProvider>
    </StrictMode>,
  );
