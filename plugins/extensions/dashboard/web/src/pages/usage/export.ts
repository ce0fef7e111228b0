/** What the table shows, as a file that the browser saves. */
export interface ExportRow {
  readonly [column: string]: string | number;
}

export function toCsv(rows: readonly ExportRow[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => columns.map((name) => cell(row[name] ?? "")).join(","));
  return [columns.map(cell).join(","), ...lines].join("\r\n") + "\r\n";
}

/** Quoted where it must be (RFC 4180); a spreadsheet must not take a name for a formula. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
