/** One of a few values, all in sight. Drawn without measuring, which would hold up the first page. */
import { useId } from "react";

import classes from "./Segments.module.css";

interface Props<T extends string> {
  /** What the choice is about, for those who do not see it. */
  label: string;
  /** One of the data's, or another one for none of them. */
  value: string;
  onChange: (value: T) => void;
  data: readonly { value: T; label: string }[];
  /** As wide as there is space. */
  full?: boolean;
}

export function Segments<T extends string>({ label, value, onChange, data, full }: Props<T>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className={classes.segments} data-full={full || undefined}>
      {data.map((each) => (
        <label key={each.value}>
          <input type="radio" name={name} checked={each.value === value} onChange={() => onChange(each.value)} />
          {each.label}
        </label>
      ))}
    </div>
  );
}
