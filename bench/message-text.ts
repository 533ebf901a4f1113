import type { MessageJson, TemplateJson } from '../src/rest/types.ts';

/** Reads messages as the customer does: texts as they are, templates filled in. */
export function readableWith(templates: readonly TemplateJson[]): (message: MessageJson) => string | null {
  return ({ text, template: sent }) => {
    if (sent === undefined) return text ?? null;
    const template = templates.find(({ name, language }) => name === sent.name && language === sent.language);
    if (template === undefined) return null;
    return [
      filled(template.header?.text, sent.headerParameters),
      filled(template.body?.text, sent.bodyParameters),
      template.footer,
    ]
      .filter(Boolean)
      .join('\n\n');
  };
}

function filled(text: string | undefined, values: Record<string, string> = {}): string | undefined {
  return text?.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
}
