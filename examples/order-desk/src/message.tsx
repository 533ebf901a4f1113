import { useApolloClient, useQuery } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import { nameOf, type Order } from './board.tsx';
import { Dialog, type DialogProps, type Result, Results, Status, Submit } from './dialog.tsx';
import { channelsQuery, sendMutation } from './documents.ts';
import { money } from './format.ts';
import type { TemplatePartsFragment } from './gql/graphql';
import { hashOf } from './hash.ts';
import { failureOf, type Refusal, reasonOf } from './results.ts';
import { type Texts, useTexts } from './texts.ts';

type Field = keyof Texts['message']['fields'];

interface Sent extends Result {
  /** Whether the customer may have got it. */
  isUnknown?: boolean;
}

/** What a parameter can be for each order. */
const fields: Record<Field, (order: Order) => string> = {
  firstName: ({ recipient }) => recipient.firstName,
  fullName: ({ recipient }) => recipient.fullName,
  order: nameOf,
  content: ({ contentDescription }) => contentDescription,
  price: ({ sellingPrice }) => money(sellingPrice.cents),
  city: ({ recipient }) => recipient.address.locality,
  address: ({ recipient }) => recipient.address.addressLines.join(', '),
  courier: ({ shipment }) => shipment?.courier?.code ?? '',
};

/** What a parameter most likely is, by its name. */
const guesses = new Map<string, Field>([
  ['customer_name', 'firstName'],
  ['order_id', 'order'],
  ['product', 'content'],
  ['amount', 'price'],
  ['city', 'city'],
  ['address', 'address'],
  ['courier', 'courier'],
]);

/** As in the server: any name without braces, and the blanks around it do not count. */
const placeholder = /\{\{([^{}]*)\}\}/g;

/** The names of all parameters that a part of a template defines or uses, with their examples. */
function parametersOf(part: TemplatePartsFragment['body']): Map<string, string | null> {
  const used = [...(part?.text ?? '').matchAll(placeholder)].map(([, name = '']) => name.trim());
  const defined = (part?.parameters ?? []).map(({ name, example }) => [name, example] as const);
  return new Map([...used.map((name) => [name, null] as const), ...defined]);
}

/** Sends a template to the customers of the selected orders, with the values of each order. */
export function MessageDialog({ orders, onClose }: DialogProps) {
  const texts = useTexts();
  const t = texts.message;
  const client = useApolloClient();
  const { data, error } = useQuery(channelsQuery);
  const channels = data?.channels?.nodes?.flatMap((channel) => (channel?.active ? channel : [])) ?? [];
  const [channelId, setChannelId] = useState<string>();
  const channel = channels.find(({ id }) => id === channelId) ?? channels[0];
  const templates = channel?.templates?.nodes.flatMap((template) => template ?? []) ?? [];
  const [templateName, setTemplateName] = useState<string>();
  const template = templates.find((each) => titleOf(each) === templateName) ?? templates[0];
  /** By parameter: a field of the order, or a text after `=`. */
  const [values, setValues] = useState<Record<string, string>>({});
  const [results, setResults] = useState<Record<string, Sent>>({});
  const [note, setNote] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isClosed = useRef(false);
  const left = orders.filter(({ id }) => !results[id]?.isDone);
  const unknown = left.filter(({ id }) => results[id]?.isUnknown);
  const [isAgain, setAgain] = useState(false);
  /** By content: the number of its key. A user who has asked the customer may want the next one. */
  const numbers = useRef(new Map<string, number>());
  const parameters = (template ? ['header' as const, 'body' as const] : []).flatMap((part) =>
    [...parametersOf(template?.[part] ?? null)].map(([name, example]) => ({
      key: `${part} ${name}`,
      name,
      example,
    })),
  );
  const valueFor = (key: string) => values[key] ?? guesses.get(key.slice(key.indexOf(' ') + 1)) ?? '=';

  /** The text that the customer of an order reads; undefined if a value is missing. */
  function textFor(order: Order): string | undefined {
    let isMissing = false;
    const fill = (part: 'header' | 'body') =>
      template?.[part]?.text.replace(placeholder, (_all, name: string) => {
        const value = valueFor(`${part} ${name.trim()}`);
        const text = value.startsWith('=') ? value.slice(1).trim() : fields[value as Field](order);
        isMissing ||= text === '';
        return text;
      });
    const text = [fill('header'), fill('body'), template?.footer].filter(Boolean).join('\n\n');
    return isMissing ? undefined : text;
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!channel || isBusy) return;
    setBusy(true);
    const after = { ...results };
    // The same text goes once to a customer with several orders.
    const groups = Map.groupBy(
      left,
      (order) => `${order.recipient.phoneNumber} ${textFor(order) ?? order.id}`,
    );
    let done = 0;
    for (const group of groups.values()) {
      if (isClosed.current) return;
      setNote(t.working(done, left.length));
      const [first] = group;
      const result = first && (await send(channel.id, first, group));
      for (const { id } of group) if (result) after[id] = result;
      done += group.length;
      setResults({ ...after });
    }
    setNote(t.sum(orders.filter(({ id }) => after[id]?.isDone).length, orders.length));
    setAgain(false);
    setBusy(false);
  }

  /**
   * The key is made of the content, so that nobody gets the same text again when a user closes the dialog or loads the page
   * again.
   * @param group the orders of the customer that have this text
   */
  async function send(channel: string, order: Order, group: Order[]): Promise<Sent> {
    const text = textFor(order);
    if (text === undefined) return { text: t.missing };
    const { phoneNumber: phone, fullName: name } = order.recipient;
    const input = { channel, phone, name, text };
    // One of their ids, whatever their sequence in the table is.
    const [id] = group.map((each) => each.id).sort();
    const content = JSON.stringify([id, input]);
    const number = (numbers.current.get(content) ?? 1) + (isAgain && results[order.id]?.isUnknown ? 1 : 0);
    numbers.current.set(content, number);
    const idempotencyKey = `${await hashOf(new TextEncoder().encode(content))}-${number}`;
    const variables = { input: { ...input, idempotencyKey } };
    const { data, error } = await client.mutate({ mutation: sendMutation, variables });
    const result = data?.sendMessageToPhone;
    if (!result) return { text: failureOf(error, texts) };
    if (result.__typename === 'SendMessageSuccess') return { text: t.sent, isDone: true };
    // A retry learns nothing: nobody can look for a message by its text.
    if (result.__typename === 'OutcomeUnknown') return { text: t.unknown, isUnknown: true };
    return { text: reasonOf(result as Refusal, texts) };
  }

  function close() {
    isClosed.current = true;
    onClose();
  }

  const first = orders[0];
  const hasTried = Object.keys(results).length > 0;
  return (
    <Dialog title={t.title} onClose={close}>
      <p>
        {t.to(orders.length)} {t.asText}
      </p>
      {error && <p className="warning">{failureOf(error, texts)}</p>}
      <form onSubmit={submit}>
        <label>
          {t.channel}
          <select value={channel?.id} onChange={({ target }) => setChannelId(target.value)}>
            {channels.map(({ id, type, phoneNumber }) => (
              <option key={id} value={id}>
                {type} {phoneNumber}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t.template}
          <select
            value={template && titleOf(template)}
            onChange={({ target }) => {
              setTemplateName(target.value);
              setValues({});
            }}
          >
            {templates.map((each) => (
              <option key={titleOf(each)}>{titleOf(each)}</option>
            ))}
          </select>
        </label>
        {parameters.length > 0 && (
          <fieldset>
            <legend>{t.values}</legend>
            {parameters.map(({ key, name, example }) => {
              const value = valueFor(key);
              return (
                <div key={key} className="sizes">
                  <label>
                    {key.startsWith('header') && t.header} {`{{${name}}}`} {example && `(${example})`}
                    <select
                      value={value.startsWith('=') ? '=' : value}
                      onChange={({ target }) => setValues({ ...values, [key]: target.value })}
                    >
                      <option value="=">{t.own}</option>
                      {Object.entries(t.fields).map(([field, text]) => (
                        <option key={field} value={field}>
                          {text}
                        </option>
                      ))}
                    </select>
                  </label>
                  {value.startsWith('=') && (
                    <label>
                      {t.own}
                      <input
                        required
                        value={value.slice(1)}
                        onChange={({ target }) => setValues({ ...values, [key]: `=${target.value}` })}
                      />
                    </label>
                  )}
                </div>
              );
            })}
          </fieldset>
        )}
        {first && template && (
          <figure className="preview">
            <figcaption>
              {t.preview}. {t.previewOf(first.recipient.fullName)}
            </figcaption>
            {textFor(first) ?? t.missing}
          </figure>
        )}
        {unknown.length > 0 && (
          <label className="check">
            <input type="checkbox" checked={isAgain} onChange={({ target }) => setAgain(target.checked)} />
            {t.again(unknown.length)}
          </label>
        )}
        <Submit isBusy={isBusy} count={channel ? left.length : 0}>
          {hasTried && left.length > 0 ? t.retry(left.length) : t.submit(left.length)}
        </Submit>
      </form>
      <small>{t.once}</small>
      <Status>{note}</Status>
      {hasTried && <Results orders={orders} results={results} />}
    </Dialog>
  );
}

const titleOf = ({ name, language }: TemplatePartsFragment) => `${name} (${language})`;
