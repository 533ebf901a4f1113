import { CombinedGraphQLErrors, NetworkStatus } from '@apollo/client';
import { useApolloClient, useQuery, useReactiveVar, useSubscription } from '@apollo/client/react';
import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { completeAt, failures, isStreamLost, notKnown, setFailing } from './answers.ts';
import { boardQuery, liveSubscription, rowsQuery } from './documents.ts';
import { type Filters, statuses, toVariables, useFilters } from './filters.ts';
import { dateTime, money, time } from './format.ts';
import type { OrderRowFragment } from './gql/graphql';
import { usePrinted } from './printed.ts';
import { useTexts } from './texts.ts';

export type Order = OrderRowFragment;

/** What people call an order. */
export const nameOf = ({ referenceId, id }: Order) => referenceId ?? id.replace('orders/', '');

interface Props {
  selected: ReadonlySet<string>;
  /** @param orders the changed ones, in the sequence of the list */
  onSelect(orders: readonly string[], isSelected: boolean): void;
  /** Gets the ids of all loaded rows, in the sequence of the list. */
  onRows(orders: readonly string[]): void;
}

/** The list of orders. It grows by its cursor, and the rows on the screen are live. */
export function Board({ selected, onSelect, onRows }: Props) {
  const t = useTexts().board;
  const [filters, setFilters] = useFilters();
  const key = JSON.stringify(toVariables(useDeferredValue(filters)));
  const variables = useMemo(() => JSON.parse(key), [key]);
  const { data, previousData, error, fetchMore, refetch, networkStatus } = useQuery(boardQuery, {
    variables,
    fetchPolicy: 'cache-and-network',
    nextFetchPolicy: 'cache-first',
    notifyOnNetworkStatusChange: true,
  });
  // While another filter loads, the rows of the last one stay, so that nothing flickers.
  const list = data?.orders ?? previousData?.orders;
  const isBusy = networkStatus !== NetworkStatus.ready && networkStatus !== NetworkStatus.error;
  const orders = useMemo(() => list?.edges?.flatMap(({ node }) => node ?? []) ?? [], [list]) as Order[];
  const ids = useMemo(() => orders.map(({ id }) => id), [orders]);
  useEffect(() => onRows(ids), [ids, onRows]);
  const { hasNextPage = false, endCursor } = list?.pageInfo ?? {};
  const more = () => {
    if (!isBusy) void fetchMore({ variables: { after: endCursor } });
  };

  const unknown = useReactiveVar(notKnown);
  const isListUnknown = useReactiveVar(failures).has('Board') && !isBusy;
  const hasFailed = useHasFailed();
  const isLost = useReactiveVar(isStreamLost);
  // After a refresh without an answer, the list is the last known one. A page that failed leaves no error here.
  const isOld =
    error && !(CombinedGraphQLErrors.is(error) && error.errors.every(({ path = [] }) => path.length > 1));
  const [watched, watch] = useRowsOnScreen(ids);
  const unreadIds = ids.filter((id) => unknown.has(id) || (isLost && watched.includes(id)));
  useHealing(unreadIds, isListUnknown, data?.orders && hasNextPage && !isOld ? more : refetch);
  useEffect(() => {
    if (watched.length > 0) return;
    // Without rows on the screen no stream is wanted, and its failure would never be withdrawn.
    setFailing('Live', false);
    isStreamLost(false);
  }, [watched]);
  useSubscription(liveSubscription, {
    variables: { ids: watched },
    skip: watched.length === 0,
    errorPolicy: 'all',
    ignoreResults: true,
  });

  return (
    <main>
      <FilterForm filters={filters} onChange={setFilters} />
      <div className="notes">
        <span role="status">{list ? t.count(orders.length, hasNextPage) : t.loading}</span>
        <button type="button" onClick={() => refetch()} disabled={isBusy}>
          {t.refresh}
        </button>
      </div>
      <a className="skip" href="#actions">
        {t.toActions}
      </a>
      <Table {...{ orders, selected, onSelect, unknown, watch, isBusy }} />
      {list && orders.length === 0 && !hasNextPage && !hasFailed && !isBusy && <p>{t.empty}</p>}
      {hasNextPage && <More onMore={more} isBusy={isBusy} isAuto={!hasFailed} />}
    </main>
  );
}

/** Whether the board could not read what it shows. The rows on the screen come from the stream, or else from `Rows`. */
function useHasFailed(): boolean {
  const failing = useReactiveVar(failures);
  const isLost = useReactiveVar(isStreamLost);
  return failing.has('Board') || failing.has(isLost ? 'Rows' : 'Live');
}

/** What the rows do not know, and what comes next. It is in the footer, so that it moves no row. */
export function Warnings({ rows }: { rows: readonly string[] }) {
  const t = useTexts().board;
  const unknown = useReactiveVar(notKnown);
  const count = rows.filter((id) => unknown.has(id)).length;
  const hasFailed = useHasFailed();
  const at = useReactiveVar(completeAt);
  return (
    <div role="status" className="warning">
      {hasFailed && t.failing(at === 0 ? '' : t.since(time(at)))} {count > 0 && t.notKnown(count)}{' '}
      {(hasFailed || count > 0) && t.again}
    </div>
  );
}

function FilterForm({ filters, onChange }: { filters: Filters; onChange(filters: Filters): void }) {
  const { board: t, orderStatus } = useTexts();
  return (
    <search>
      <form className="filters" aria-label={t.filters} onSubmit={(event) => event.preventDefault()}>
        <label className="search">
          {t.search}
          <input
            type="search"
            value={filters.search}
            maxLength={256}
            onChange={({ target }) => onChange({ ...filters, search: target.value })}
          />
        </label>
        <fieldset>
          <legend>{t.status}</legend>
          {statuses.map((status) => (
            <label key={status} className="chip">
              <input
                type="checkbox"
                checked={filters.status.includes(status)}
                onChange={({ target }) =>
                  onChange({
                    ...filters,
                    status: statuses.filter((each) =>
                      each === status ? target.checked : filters.status.includes(each),
                    ),
                  })
                }
              />
              {orderStatus[status]}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>{t.shipment}</legend>
          {(['any', 'none', 'stuck'] as const).map((shipment) => (
            <label key={shipment} className="chip">
              <input
                type="radio"
                name="shipment"
                checked={filters.shipment === shipment}
                onChange={() => onChange({ ...filters, shipment })}
              />
              {{ any: t.anyShipment, none: t.noShipment, stuck: t.stuck }[shipment]}
            </label>
          ))}
        </fieldset>
      </form>
    </search>
  );
}

interface TableProps extends Pick<Props, 'selected' | 'onSelect'> {
  orders: Order[];
  unknown: ReadonlySet<string>;
  watch(row: HTMLElement | null): (() => void) | undefined;
  isBusy: boolean;
}

function Table({ orders, selected, onSelect, unknown, watch, isBusy }: TableProps) {
  const t = useTexts().board;
  const printed = usePrinted();
  const count = orders.filter(({ id }) => selected.has(id)).length;
  return (
    <table aria-busy={isBusy} className={isBusy ? 'busy' : ''}>
      <caption>{t.orders}</caption>
      <thead>
        <tr>
          <th scope="col">
            <input
              type="checkbox"
              aria-label={t.selectAll}
              checked={count > 0 && count === orders.length}
              ref={(box) => {
                if (box) box.indeterminate = count > 0 && count < orders.length;
              }}
              onChange={({ target }) =>
                onSelect(
                  orders.map(({ id }) => id),
                  target.checked,
                )
              }
            />
          </th>
          <th scope="col">{t.order}</th>
          <th scope="col">{t.state}</th>
          <th scope="col" className="wide number">
            {t.price}
          </th>
          <th scope="col" className="wide">
            {t.created}
          </th>
        </tr>
      </thead>
      <tbody>
        {orders.map((order) => (
          <Row
            key={order.id}
            {...{ order, onSelect, watch }}
            isSelected={selected.has(order.id)}
            isUnknown={unknown.has(order.id)}
            printedAt={printed[order.shipment?.id ?? '']}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Pick<TableProps, 'onSelect' | 'watch'> {
  order: Order;
  isSelected: boolean;
  isUnknown: boolean;
  printedAt: number | undefined;
}

const Row = memo(function Row({ order, isSelected, isUnknown, printedAt, onSelect, watch }: RowProps) {
  const { board: t, orderStatus, shipmentStatus } = useTexts();
  const { recipient, shipment } = order;
  const price = money(order.sellingPrice.cents);
  const recaudo = order.cashOnDelivery.cents > 0 && t.recaudo(money(order.cashOnDelivery.cents));
  return (
    <tr data-id={order.id} ref={watch} className={isSelected ? 'selected' : ''}>
      <td>
        <input
          type="checkbox"
          aria-label={t.select(`${nameOf(order)}, ${recipient.fullName}`)}
          checked={isSelected}
          onChange={({ target }) => onSelect([order.id], target.checked)}
        />
      </td>
      <th scope="row">
        {nameOf(order)} <span className="name">{recipient.fullName}</span>
        <small>{recipient.address.locality}</small>
        <small className="narrow">
          {price}, {dateTime(order.createTime)}
        </small>
      </th>
      <td>
        <span className={`badge ${order.status}`}>{orderStatus[order.status]}</span>
        {shipment && (
          <small className={shipment.status === 'WITH_ERROR' ? 'error' : ''}>
            {shipmentStatus[shipment.status]}
            {shipment.courier && ` · ${shipment.courier.code}`}
          </small>
        )}
        {isUnknown && <small className="warning">{t.rowNotKnown}</small>}
        {printedAt && <small>{t.printedAt(dateTime(printedAt))}</small>}
      </td>
      <td className="wide number">
        {price}
        {recaudo && <small>{recaudo}</small>}
      </td>
      <td className="wide">{dateTime(order.createTime)}</td>
    </tr>
  );
});

/** A button that presses itself when it comes into view. A page can be empty, and then the next one follows. */
function More({ onMore, isBusy, isAuto }: { onMore(): void; isBusy: boolean; isAuto: boolean }) {
  const t = useTexts().board;
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    if (!button.current || !isAuto || isBusy) return;
    const observer = new IntersectionObserver(([entry]) => {
      // Who moves by keyboard would never come to what follows the rows.
      const isByKeyboard = document.querySelector('tbody :focus-visible, .more:focus-visible');
      if (entry?.isIntersecting && !isByKeyboard) latest.current();
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [isAuto, isBusy]);
  return (
    <button type="button" className="more" ref={button} onClick={onMore} aria-disabled={isBusy}>
      {isBusy ? t.loading : t.more}
    </button>
  );
}

/** The ids of the rows on the screen, half a second after they have changed. At most 100, as `nodes` takes. */
function useRowsOnScreen(ids: readonly string[]) {
  const [onScreen, setOnScreen] = useState<string[]>([]);
  const [observe] = useState(() => {
    const visible = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const id = (target as HTMLElement).dataset.id ?? '';
        if (isIntersecting) visible.add(id);
        else visible.delete(id);
      }
      clearTimeout(timer);
      timer = setTimeout(() => setOnScreen([...visible]), 500);
    });
    return (row: HTMLElement | null) => {
      if (row === null) return undefined;
      observer.observe(row);
      return () => {
        observer.unobserve(row);
        visible.delete(row.dataset.id ?? '');
      };
    };
  });
  const key = ids
    .filter((id) => onScreen.includes(id))
    .slice(0, 100)
    .join();
  const watched = useMemo(() => (key === '' ? [] : key.split(',')), [key]);
  return [watched, observe] as const;
}

/** Reads again what is not known or not live, every 5 seconds. A stream may look only every 30 seconds by then. */
function useHealing(unreadIds: string[], isListUnknown: boolean, readList: () => void): void {
  const client = useApolloClient();
  const key = unreadIds.slice(0, 100).join();
  const latest = useRef(readList);
  latest.current = readList;
  useEffect(() => {
    if (key === '' && !isListUnknown) return;
    const timer = setInterval(() => {
      if (isListUnknown) latest.current();
      else
        client.query({ query: rowsQuery, variables: { ids: key.split(',') }, fetchPolicy: 'network-only' });
    }, 5_000);
    return () => clearInterval(timer);
  }, [client, key, isListUnknown]);
}
