import { useApolloClient, useQuery } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import { nameOf, type Order } from './board.tsx';
import { Dialog, type DialogProps, type Result, Results, Status, Submit } from './dialog.tsx';
import { channelsQuery, sendMutation } from './documents.ts';
import { money } from './format.ts';
import type { TemplatePartsFragment } from './gql/graphql';
import { failureOf, type Refusal, reasonOf } from './results.ts';
import { type Texts, useTexts } from './texts.ts';
import { IdempotencyKey } from './waybill/idempotency-key.ts';

type Field = keyof Texts['message']['fields'];

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
const guesses: Record<string, Field> = {
  customer_name: 'firstName',
  order_id: 'order',
  product: 'content',
  amount: 'price',
  city: 'city',
  address: 'address',
  courier: 'courier',
};

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
  const [results, setResults] = useState<Record<string, Result>>({});
  const [note, setNote] = useState('');
  const [isBusy, setBusy] = useState(false);
  const keys = useRef(new Map<string, IdempotencyKey>());
  const left = orders.filter(({ id }) => !results[id]?.isDone);
  const parameters = (template ? ['header' as const, 'body' as const] : []).flatMap((part) =>
    (template?.[part]?.parameters ?? []).map(({ name, example }) => ({
      key: `${part} ${name}`,
      name,
      example,
    })),
  );
  const valueFor = (key: string) => values[key] ?? guesses[key.split(' ')[1] ?? ''] ?? '=';

  /** The text that the customer of an order reads; undefined if a value is missing. */
  function textFor(order: Order): string | undefined {
    let isMissing = false;
    const fill = (part: 'header' | 'body') =>
      template?.[part]?.text.replace(/\{\{(\w+)\}\}/g, (_all, name) => {
        const value = valueFor(`${part} ${name}`);
        const text = value.startsWith('=') ? value.slice(1).trim() : fields[value as Field](order);
        isMissing ||= text === '';
        return text || `{{${name}}}`;
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
      setNote(t.working(done, left.length));
      const [first] = group;
      const result = first && (await send(channel.id, first));
      for (const { id } of group) if (result) after[id] = result;
      done += group.length;
      setResults({ ...after });
    }
    setNote(t.sum(orders.filter(({ id }) => after[id]?.isDone).length, orders.length));
    setBusy(false);
  }

  async function send(channel: string, order: Order) {
    const text = textFor(order);
    if (text === undefined) return { text: t.missing };
    const { phoneNumber: phone, fullName: name } = order.recipient;
    const input = { channel, phone, name, text };
    const key = keys.current.get(order.id) ?? new IdempotencyKey();
    keys.current.set(order.id, key);
    const variables = { input: { ...input, idempotencyKey: key.of(input) } };
    const { data, error } = await client.mutate({ mutation: sendMutation, variables });
    const result = data?.sendMessageToPhone;
    key.settle(result);
    if (!result) return { text: failureOf(error, texts) };
    if (result.__typename === 'SendMessageSuccess') return { text: t.sent, isDone: true };
    // A retry learns nothing: nobody can look for a message by its text.
    if (result.__typename === 'OutcomeUnknown') return { text: t.unknown };
    return { text: reasonOf(result as Refusal, texts) };
  }

  const first = orders[0];
  const hasTried = Object.keys(results).length > 0;
  return (
    <Dialog title={t.title} onClose={onClose}>
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
        <Submit isBusy={isBusy} count={channel ? left.length : 0}>
          {hasTried && left.length > 0 ? t.retry(left.length) : t.submit(left.length)}
        </Submit>
      </form>
      <Status>{note}</Status>
      {hasTried && <Results orders={orders} results={results} />}
    </Dialog>
  );
}

const titleOf = ({ name, language }: TemplatePartsFragment) => `${name} (${language})`;
