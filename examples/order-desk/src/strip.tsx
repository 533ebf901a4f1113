import { useReactiveVar } from '@apollo/client/react';
import { costs } from './answers.ts';
import { useTexts } from './texts.ts';

/** How many REST calls the screen took, and how many a REST client would have made. */
export function Strip() {
  const t = useTexts().strip;
  const { requests, calls, restClient } = useReactiveVar(costs);
  return (
    <details className="strip">
      <summary>
        {t.text(calls, restClient)} <span>{t.how}</span>
      </summary>
      <p>{t.calls(requests)}</p>
      <p>{t.restClient}</p>
    </details>
  );
}
