import { useEffect, useState } from 'react';
import { useTexts } from './texts.ts';

const kinds = ['none', 'third', 'down', 'slow'] as const;
type Trouble = (typeof kinds)[number];

/** Makes the sandbox fail. `npm run demo` alone serves the address: there is nothing to switch before another server. */
export function TroubleSwitch() {
  const t = useTexts().trouble;
  const [trouble, setTrouble] = useState<Trouble>();
  useEffect(() => {
    fetch('/demo/trouble')
      .then((response) => response.text())
      .then((text) => setTrouble(kinds.find((kind) => kind === text)));
  }, []);
  // Shown at once: the next key of the user starts from it.
  const choose = (text: string) => {
    setTrouble(kinds.find((kind) => kind === text));
    void fetch('/demo/trouble', { method: 'POST', body: text });
  };
  if (trouble === undefined) return null;
  return (
    <label className="trouble">
      {t.label}
      <select value={trouble} onChange={({ target }) => choose(target.value)}>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {t[kind]}
          </option>
        ))}
      </select>
    </label>
  );
}
