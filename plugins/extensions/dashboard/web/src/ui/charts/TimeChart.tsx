/** A chart over time, drawn by hand: it is on the first page, and libraries of charts are larger than all the rest. */
import { type CSSProperties, type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";

import { Marks, valueOf } from "./Marks";
import { labelledOf, levelsFor } from "./scale";
import classes from "./TimeChart.module.css";

/** The label of a point in time in `at`, and a member for each series. */
export type ChartRow = Readonly<Record<string, string | number | null>>;

export interface ChartSeries {
  /** The member of each row. */
  name: string;
  label: string;
  color: string;
  /** Drawn with dashes, as what is compared with. */
  dashed?: boolean;
}

interface Props {
  /** Bars of one point in time stand on one another. */
  kind: "bars" | "line";
  rows: readonly ChartRow[];
  series: readonly ChartSeries[];
  format: (value: number) => string;
  height?: number;
  legend?: boolean;
  /** Opens a point in time. */
  onChoose?: (place: number) => void;
  label: string;
}

export const HEIGHT = 200;

/** A chart over time of rows that have one member for each series. */
export function TimeChart({ kind, rows, series, format, height = HEIGHT, legend = series.length > 1, onChoose, label }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const levels = useMemo(() => levelsFor(heightsOf(kind, rows, series)), [kind, rows, series]);
  const top = levels.at(-1)!;
  const shown = pointed !== null && pointed < rows.length ? pointed : null;

  function point({ clientX, currentTarget }: PointerEvent<HTMLElement>) {
    const { left, width } = currentTarget.getBoundingClientRect();
    const place = Math.floor(((clientX - left) / width) * rows.length);
    setPointed(Math.max(0, Math.min(rows.length - 1, place)));
  }

  function press(event: KeyboardEvent) {
    const from = shown ?? rows.length;
    const targets: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: rows.length - 1 };
    const target = targets[event.key];
    if (event.key === "Escape") setPointed(null);
    else if (event.key === "Enter" && shown !== null) onChoose?.(shown);
    else if (target !== undefined && rows.length > 0) {
      setPointed(Math.max(0, Math.min(rows.length - 1, target)));
      event.preventDefault();
    }
  }

  return (
    <figure className={classes.chart} style={{ height }} aria-label={label} tabIndex={0} onKeyDown={press} onBlur={() => setPointed(null)}>
      <div className={classes.field}>
        <div
          className={classes.plot}
          data-choosing={onChoose ? true : undefined}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={() => setPointed(null)}
          onClick={() => shown !== null && onChoose?.(shown)}
        >
          {levels.map((level) => (
            <div key={level} className={classes.level} style={{ bottom: share(level, top) }}>
              <span>{format(level)}</span>
            </div>
          ))}
          <svg className={classes.drawing} viewBox={`0 0 ${Math.max(1, rows.length)} 100`} preserveAspectRatio="none" aria-hidden>
            {shown !== null && <rect x={shown} width={1} height={100} className={classes.pointed} />}
            <Marks kind={kind} rows={rows} series={series} top={top} />
          </svg>
          <div aria-live="polite">{shown !== null && <Tip row={rows[shown]!} place={(shown + 0.5) / rows.length} series={series} format={format} />}</div>
        </div>
      </div>
      <div className={classes.times} aria-hidden>
        {labelledOf(rows.length).map((place) => (
          <span key={place} style={{ left: share(place + 0.5, rows.length) }}>
            {rows[place]!.at}
          </span>
        ))}
      </div>
      {legend && (
        <ul className={classes.legend}>
          {series.map((each) => (
            <li key={each.name}>
              <Swatch of={each} />
              <span className={classes.name}>{each.label}</span>
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

/** The values of one point in time, on the side of it that has more space. */
function Tip({ row, place, series, format }: { row: ChartRow; place: number } & Pick<Props, "series" | "format">) {
  const style: CSSProperties = place < 0.5 ? { left: share(place, 1) } : { right: share(1 - place, 1) };
  return (
    <div className={classes.tip} style={style}>
      <div className={classes.at}>{row.at}</div>
      {series.map((each) => (
        <div key={each.name} className={classes.value}>
          <Swatch of={each} />
          <span className={classes.name}>{each.label}</span>
          <span className="tabular">{row[each.name] == null ? "–" : format(valueOf(row, each.name))}</span>
        </div>
      ))}
    </div>
  );
}

function Swatch({ of: { color, dashed } }: { of: ChartSeries }) {
  return <span className={classes.swatch} data-dashed={dashed} style={{ color }} />;
}

/** How far up the marks of a chart reach: all bars of a point together, or each point of a line. */
function heightsOf(kind: Props["kind"], rows: readonly ChartRow[], series: readonly ChartSeries[]): number[] {
  return rows.flatMap((row) => {
    const values = series.map(({ name }) => valueOf(row, name));
    return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : values;
  });
}

function share(part: number, whole: number): string {
  return `${(part / whole) * 100}%`;
}
