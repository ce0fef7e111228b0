/** The table of every page: sorted, virtualised, usable by keyboard. */
import { Box, Skeleton, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import {
  type ColumnDef,
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  type RowData,
  type SortingState,
  useReactTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";

import { texts } from "~/texts";
import classes from "./DataTable.module.css";

declare module "@tanstack/react-table" {
  interface ColumnMeta<TData extends RowData, TValue> {
    /** Numbers stand at the right. */
    align?: "left" | "right";
    /** Width as CSS has it in `grid-template-columns`; `1fr` by default. */
    width?: string;
    /** Left out below this width of the table in pixels. */
    from?: number;
    /** Keeps the compiler content about the parameters. */
    _types?: [TData, TValue];
  }
}

export type Column<T> = ColumnDef<T, any>;

interface Props<T> {
  columns: readonly Column<T>[];
  /** Rows that are not loaded yet are `undefined`. */
  rows: readonly (T | undefined)[];
  rowId: (row: T) => string;
  /** What the table lists, for screen readers. */
  label: string;
  onRowClick?: (row: T) => void;
  /** The row whose details are shown. */
  selectedId?: string | null;
  /** Shown in place of rows. */
  empty?: ReactNode;
  loading?: boolean;
  /** First order, such as `[{ id: "name", desc: false }]`. */
  sorting?: SortingState;
  /** Whether columns sort by a click. Rows that are loaded in pieces cannot. */
  sortable?: boolean;
  /** Pixels; the table scrolls within itself above it. `null` for as long as it is. */
  height?: number | string | null;
  /** Called with the first and last row in sight. */
  onRange?: (first: number, last: number) => void;
  /** What is said below a row about it. */
  note?: (row: T) => ReactNode;
  /** Rows that are drawn with a mark, because they are new. */
  isFresh?: (row: T) => boolean;
}

const ROW_HEIGHT = 37;
const OVERSCAN = 12;
/** Below this all rows are drawn: find-in-page works then. */
const VIRTUAL_FROM = 100;

export function DataTable<T>({
  columns,
  rows,
  rowId,
  label,
  onRowClick,
  selectedId,
  empty,
  loading = false,
  sorting: usual = [],
  sortable = true,
  height = null,
  onRange,
  note,
  isFresh,
}: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const [sorting, setSorting] = useState<SortingState>(usual);
  const shown = useMemo(
    () => columns.filter((column) => width === 0 || width >= (column.meta?.from ?? 0)),
    [columns, width],
  );
  const isSparse = !sortable;
  const loaded = useMemo(() => (isSparse ? [] : (rows.filter((row) => row !== undefined) as T[])), [rows, isSparse]);
  const table = useReactTable<T>({
    data: loaded,
    columns: shown as Column<T>[],
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: rowId,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    enableSorting: sortable,
  });
  const sorted = table.getRowModel().rows;
  const count = isSparse ? rows.length : sorted.length;
  const isVirtual = height !== null && count > VIRTUAL_FROM;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    enabled: isVirtual,
  });
  const items = isVirtual
    ? virtualizer.getVirtualItems()
    : Array.from({ length: count }, (_, index) => ({ index, start: index * ROW_HEIGHT, key: index }));
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (count > 0) onRange?.(first, last);
  }, [first, last, count, onRange]);

  const template = shown.map((column) => column.meta?.width ?? "minmax(0, 1fr)").join(" ");
  const headers = table.getHeaderGroups()[0]?.headers ?? [];

  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const current = Number((document.activeElement as HTMLElement | null)?.dataset.index ?? -1);
    const next = scroller.current?.querySelector<HTMLElement>(`[data-index="${current + step}"]`);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  function cells(row: T, index: number) {
    const id = rowId(row);
    const cellsOf = isSparse
      ? createRow(row, index)
      : sorted[index]!.getVisibleCells();
    return { id, cellsOf };
  }

  // Rows that arrive in pieces have no table row; their cells are made of the columns alone.
  function createRow(row: T, index: number) {
    return table.options.columns.map((column) => {
      const key = "accessorKey" in column ? String(column.accessorKey) : (column.id ?? "");
      const value =
        "accessorFn" in column && column.accessorFn
          ? column.accessorFn(row, index)
          : (row as Record<string, unknown>)[key];
      return { id: `${index}_${key}`, column: { columnDef: column }, value };
    });
  }

  return (
    <Box
      ref={scroller}
      className={classes.scroller}
      style={{ maxHeight: height ?? undefined, "--columns": template }}
      onKeyDown={onKeyDown}
      tabIndex={isVirtual ? 0 : undefined}
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-busy={loading}
    >
      <div className={classes.head} role="row">
        {headers.map((header) => {
          const { columnDef } = header.column;
          const direction = header.column.getIsSorted();
          const title = flexRender(columnDef.header, header.getContext());
          const canSort = sortable && header.column.getCanSort();
          return (
            <div
              key={header.id}
              role="columnheader"
              className={classes.headCell}
              data-align={columnDef.meta?.align}
              aria-sort={direction ? (direction === "desc" ? "descending" : "ascending") : undefined}
            >
              {canSort ? (
                <UnstyledButton className={classes.sort} onClick={header.column.getToggleSortingHandler()}>
                  {title}
                  {direction === "desc" && <IconChevronDown size={12} aria-hidden />}
                  {direction === "asc" && <IconChevronUp size={12} aria-hidden />}
                </UnstyledButton>
              ) : (
                title
              )}
            </div>
          );
        })}
      </div>
      {count === 0 && !loading && (
        <div role="row">
          <div role="cell">{empty ?? <Text c="dimmed" ta="center" py="xl">{texts.common.noMatch}</Text>}</div>
        </div>
      )}
      {count === 0 && loading && <Waiting />}
      <div role="rowgroup" style={isVirtual ? { height: virtualizer.getTotalSize(), position: "relative" } : undefined}>
        {items.map(({ index, start }) => {
          const row = isSparse ? rows[index] : sorted[index]?.original;
          const place = isVirtual ? { position: "absolute" as const, top: 0, insetInline: 0, transform: `translateY(${start}px)` } : undefined;
          if (row === undefined)
            return (
              <div key={`empty-${index}`} className={classes.row} style={place} role="row" aria-rowindex={index + 2}>
                <div role="cell" className={classes.cell}>
                  <Skeleton h={10} w="60%" />
                </div>
              </div>
            );
          const { id, cellsOf } = cells(row, index);
          const said = note?.(row);
          return (
            <div
              key={id}
              // Rows are of one height but where something is said below them.
              ref={isVirtual && note ? virtualizer.measureElement : undefined}
              role="row"
              aria-rowindex={index + 2}
              className={classes.row}
              style={place}
              data-index={index}
              data-clickable={onRowClick ? true : undefined}
              data-selected={selectedId === id || undefined}
              data-fresh={isFresh?.(row) || undefined}
              tabIndex={onRowClick ? 0 : undefined}
              onClick={onRowClick && (() => onRowClick(row))}
              onKeyDown={
                onRowClick &&
                ((event) => {
                  if (event.key !== "Enter" || event.target !== event.currentTarget) return;
                  onRowClick(row);
                })
              }
            >
              {cellsOf.map((cell) => (
                <div
                  key={cell.id}
                  role="cell"
                  className={classes.cell}
                  data-align={cell.column.columnDef.meta?.align}
                >
                  {"getContext" in cell
                    ? contentOf(cell.column.columnDef, cell.getContext())
                    : contentOf(cell.column.columnDef, { row: { original: row }, getValue: () => cell.value })}
                </div>
              ))}
              {said && (
                <div role="cell" className={classes.note}>
                  {said}
                </div>
              )}
            </div>
          );
        })}
      </div>
    </Box>
  );
}

/**
 * What a cell shows. `cell` is called, not mounted as a component: columns are made anew with each
 * answer they show, and an open menu has to outlive that.
 */
function contentOf<T>({ cell }: Column<T>, context: { row: { original: T }; getValue: () => unknown }): ReactNode {
  if (typeof cell === "function") return (cell as (context: unknown) => ReactNode)(context);
  const value = context.getValue();
  return value == null ? null : String(value);
}

function Waiting() {
  return (
    <Box p="sm">
      {Array.from({ length: 6 }, (_, line) => (
        <Skeleton key={line} h={12} my={12} w={`${90 - ((line * 13) % 30)}%`} />
      ))}
    </Box>
  );
}

/** The width of an element, 0 until it is known. */
function useWidth(ref: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
