interface Props {
  points: readonly (number | null)[];
  color?: string;
  height?: number;
}

const WIDTH = 100;

/** The course of a figure, without axes. Drawn by hand: it is on the first page to load. */
export function Sparkline({ points, color = "var(--series-1)", height = 28 }: Props) {
  const values = points.map((point) => point ?? 0);
  const most = Math.max(...values, 0);
  if (values.length < 2 || most === 0) return <svg height={height} width="100%" aria-hidden />;
  const step = WIDTH / (values.length - 1);
  const line = values
    .map((value, place) => `${(place * step).toFixed(2)},${(height - 2 - (value / most) * (height - 4)).toFixed(2)}`)
    .join(" ");
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} height={height} width="100%" preserveAspectRatio="none" aria-hidden display="block">
      <polygon points={`0,${height} ${line} ${WIDTH},${height}`} fill={color} opacity={0.1} />
      <polyline points={line} fill="none" stroke={color} strokeWidth={1.5} vectorEffect="non-scaling-stroke" strokeLinejoin="round" />
    </svg>
  );
}
