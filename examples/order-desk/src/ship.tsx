import { useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useRef, useState } from 'react';
import { nameOf, type Order } from './board.tsx';
import { Dialog, type DialogProps, type Result, Results, Status, Submit } from './dialog.tsx';
import { balanceQuery, createQuoteMutation, originsQuery, shipOrdersMutation } from './documents.ts';
import { money, toCents } from './format.ts';
import type { OfferPartsFragment, PackageInput, ShipOrderInput } from './gql/graphql';
import { available, costOf, failureOf, type Refusal, reasonOf } from './results.ts';
import { useTexts } from './texts.ts';
import { IdempotencyKey } from './waybill/idempotency-key.ts';

interface Shipped extends Result {
  cents?: number;
}

/** By order. They outlive the dialog, because an outcome can still be unknown when a user closes it. */
const keys = new Map<string, IdempotencyKey>();

/** Ships the selected orders with one package: a result for each, and the same key when it is tried again. */
export function Ship({ orders, onClose }: DialogProps) {
  const texts = useTexts();
  const t = texts.ship;
  const client = useApolloClient();
  // Those of the start: an order that is shipped stays in the list of results.
  const [open] = useState(() =>
    orders.filter(({ status, shipment }) => !shipment && ['NEW', 'CONFIRMED', 'READY'].includes(status)),
  );
  const origins = useQuery(originsQuery).data?.origins?.nodes?.flatMap((origin) => origin ?? []) ?? [];
  const [offers, setOffers] = useState<OfferPartsFragment[]>([]);
  const [results, setResults] = useState<Record<string, Shipped>>({});
  const [notes, setNotes] = useState<string[]>([]);
  const [quote, { loading: isQuoting }] = useMutation(createQuoteMutation);
  const [ship, { loading: isShipping }] = useMutation(shipOrdersMutation);
  const form = useRef<HTMLFormElement>(null);
  const left = open.filter(({ id }) => !results[id]?.isDone);
  const first = open[0];

  async function showOffers() {
    const values = read();
    const origin = origins.find(({ id }) => id === values?.origin)?.location?.id;
    const destination = first?.recipient.location?.id;
    if (!values || !first || !origin || !destination || !form.current?.reportValidity()) return;
    const input = {
      origin,
      destination,
      package: values.packageOf(first),
      cashOnDeliveryRequestCents: first.cashOnDelivery.cents,
    };
    const { data, error } = await quote({ variables: { input } });
    const result = data?.createQuote;
    if (result?.__typename === 'CreateQuoteSuccess') setOffers(result.quote.offers);
    else setNotes([result ? reasonOf(result as Refusal, texts) : failureOf(error, texts)]);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    const values = read();
    if (!values) return;
    const inputs = left.map((order): ShipOrderInput => {
      const input = {
        order: order.id,
        origin: values.origin,
        package: values.packageOf(order),
        offer: values.offer,
        ...(values.ceiling !== undefined && { maxShipmentCostCents: values.ceiling }),
      };
      const key = keys.get(order.id) ?? new IdempotencyKey();
      keys.set(order.id, key);
      return { ...input, idempotencyKey: key.of(input) };
    });
    const { data, error } = await ship({ variables: { inputs } });
    const after = { ...results };
    for (const [index, { id }] of left.entries()) {
      const result = data?.shipOrders?.[index];
      keys.get(id)?.settle(result);
      if (result?.__typename === 'ShipOrderSuccess') {
        const { courier, totalCost } = result.shipment;
        const text = t.done(courier?.code ?? '', costOf(totalCost, texts));
        after[id] = { text, cents: totalCost?.cents, isDone: true };
      } else
        after[id] = {
          text: result ? reasonOf(result as Refusal, texts) : failureOf(error, texts),
        };
    }
    setResults(after);
    const done = open.filter(({ id }) => after[id]?.isDone);
    const costs = done.flatMap(({ id }) => after[id]?.cents ?? []);
    const sum = money(costs.reduce((total, cents) => total + cents, 0));
    // A mutation cannot return the balance.
    const account = await client.query({ query: balanceQuery, fetchPolicy: 'network-only' });
    const { balance, creditLimit } = account.data?.organization ?? {};
    setNotes([
      t.sum(done.length, open.length, sum, done.length - costs.length),
      balance && creditLimit
        ? t.balance(money(balance.cents), money(balance.cents + creditLimit.cents))
        : t.noBalance,
    ]);
  }

  /** The values of the form; undefined if an amount is wrong. */
  function read() {
    if (!form.current) return undefined;
    const data = new FormData(form.current);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    const amounts = ['value', 'ceiling'].map((name) => {
      const cents = text(name) === '' ? undefined : toCents(text(name));
      const input = form.current?.elements.namedItem(name) as HTMLInputElement;
      input.setCustomValidity(text(name) !== '' && cents === undefined ? t.wrongAmount : '');
      return cents;
    });
    if (!form.current.reportValidity()) return undefined;
    const [value, ceiling] = amounts;
    const offer = text('offer');
    return {
      origin: text('origin'),
      ceiling,
      offer: offer.startsWith('couriers/') ? { courier: offer } : { prefer: offer as 'CHEAPEST' },
      packageOf: (order: Order): PackageInput => ({
        contentDescription: text('content') || order.contentDescription,
        declaredValueCents: value ?? order.sellingPrice.cents,
        weightKg: Number(text('weight')),
        dimensions: {
          lengthCm: Number(text('length')),
          widthCm: Number(text('width')),
          heightCm: Number(text('height')),
        },
      }),
    };
  }

  const hasTried = Object.keys(results).length > 0;
  return (
    <Dialog title={t.title} onClose={onClose}>
      <p>{t.orders(open.length, orders.length - open.length)}</p>
      <form ref={form} onSubmit={submit}>
        <label>
          {t.origin}
          <select name="origin" required>
            {origins.map(({ id, address, location }) => (
              <option key={id} value={id}>
                {address?.addressLines.join(', ')}, {location?.locality}
              </option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>{t.package}</legend>
          <label>
            {t.content} <input name="content" minLength={3} maxLength={128} />
          </label>
          <label>
            {t.value} <input name="value" inputMode="decimal" />
          </label>
          <div className="sizes">
            {(['weight', 'length', 'width', 'height'] as const).map((name) => (
              <label key={name}>
                {t[name]}
                <input
                  name={name}
                  type="number"
                  min="0.1"
                  max="1000"
                  step="0.1"
                  required
                  defaultValue={{ weight: 1, length: 25, width: 20, height: 10 }[name]}
                />
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          {t.offer}
          <select name="offer">
            <option value="CHEAPEST">{t.CHEAPEST}</option>
            <option value="FASTEST">{t.FASTEST}</option>
            {available(offers).map(({ courier }) => (
              <option key={courier.id} value={courier.id}>
                {courier.code}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={showOffers} disabled={!first} aria-disabled={isQuoting}>
          {isQuoting ? texts.board.loading : t.showOffers}
        </button>
        {first && offers.length > 0 && <Offers order={first} offers={offers} />}
        <label>
          {t.ceiling} <input name="ceiling" inputMode="decimal" aria-describedby="ceiling-hint" />
        </label>
        <small id="ceiling-hint">{t.ceilingHint}</small>
        <Submit isBusy={isShipping} count={left.length}>
          {isShipping
            ? t.working
            : hasTried && left.length > 0
              ? t.retry(left.length)
              : t.submit(left.length)}
        </Submit>
      </form>
      <Status>{notes.join(' ')}</Status>
      {hasTried && <Results orders={open} results={results} />}
    </Dialog>
  );
}

function Offers({ order, offers }: { order: Order; offers: OfferPartsFragment[] }) {
  const texts = useTexts();
  const { ship: t, offerStatus } = texts;
  return (
    <table>
      <caption>{t.offersOf(`${nameOf(order)}, ${order.recipient.fullName}`)}</caption>
      <thead>
        <tr>
          <th scope="col">{t.courier}</th>
          <th scope="col" className="number">
            {t.cost}
          </th>
          <th scope="col" className="number">
            {t.days}
          </th>
        </tr>
      </thead>
      <tbody>
        {[...available(offers), ...offers.filter((offer) => !offer.available)].map((offer) => (
          <tr key={offer.courier.id}>
            <th scope="row">{offer.courier.code}</th>
            <td className="number">
              {offer.available
                ? costOf(offer.shipmentCost, texts)
                : (offerStatus[offer.status] ?? offer.status)}
            </td>
            <td className="number">{offer.available && offer.estimatedDeliveryOperatingDays}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
