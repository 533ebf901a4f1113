import { useEffect, useState } from 'react';
import { useTexts } from './texts.ts';

const kinds = ['none', 'third', 'down', 'slow'] as const;
type Trouble = (typeof kinds)[number];

/** Makes the sandbox fail. `npm run demo` alone serves the address: there is nothing to switch before another server. */
export function TroubleSwitch() {
  const t = useTexts().trouble;
  const [trouble, setTrouble] = useState<Trouble>();
  const ask = async (init?: RequestInit) => {
    const text = await (await fetch('/demo/trouble', init)).text();
    setTrouble(kinds.find((kind) => kind === text));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once
  useEffect(() => void ask(), []);
  if (trouble === undefined) return null;
  return (
    <label className="trouble">
      {t.label}
      <select value={trouble} onChange={({ target }) => ask({ method: 'POST', body: target.value })}>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {t[kind]}
          </option>
        ))}
      </select>
    </label>
  );
}
