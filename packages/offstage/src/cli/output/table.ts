// A table that fits the terminal: columns shrink, and the least important ones are left out if it is narrow.
import type { Io, Style } from "../io.ts";
import { columnsOf, pad } from "./columns.ts";

export interface Column<Row> {
  readonly name: string;
  /** The text of a cell: inert, on one line. */
  text(row: Row): string;
  style?(row: Row): Style | undefined;
  readonly align?: "left" | "right";
  /** It may shrink to this many columns, and takes what the others leave. */
  readonly shrinksTo?: number;
  /** The most columns it takes. */
  readonly most?: number;
  /** Columns with a higher number are left out first. Default 0: never. */
  readonly rank?: number;
}

const gap = 2;

/** The lines of a table, with a header. */
export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], io: Io): string[] {
  const cells = rows.map((row) => new Map(columns.map((column) => [column, column.text(row)])));
  const natural = new Map(
    columns.map((column) => {
      const widest = Math.max(columnsOf(column.name), ...cells.map((row) => columnsOf(row.get(column) ?? "")));
      return [column, Math.min(column.most ?? Number.POSITIVE_INFINITY, widest)];
    }),
  );
  const used = columns.filter((column) => rows.length === 0 || cells.some((row) => row.get(column) !== ""));
  const shown = fitting(used, natural, io.width);
  const widths = widthsOf(shown, natural, io.width);
  const line = (textOf: (column: Column<Row>) => string, styleOf: (column: Column<Row>) => Style | undefined): string =>
    shown
      .map((column) => {
        const text = pad(textOf(column), widths.get(column) ?? 0, column.align);
        const style = styleOf(column);
        return style === undefined ? text : io.paint(style, text);
      })
      .join(" ".repeat(gap))
      .trimEnd();
  const header = line(
    ({ name }) => name,
    () => "dim",
  );
  return [
    header,
    ...rows.map((row, index) =>
      line(
        (column) => cells[index]?.get(column) ?? "",
        (column) => column.style?.(row),
      ),
    ),
  ];
}

// Leaves out columns until the rest fits.
function fitting<Row>(
  columns: readonly Column<Row>[],
  natural: ReadonlyMap<Column<Row>, number>,
  width: number,
): readonly Column<Row>[] {
  const least = (column: Column<Row>): number => Math.min(column.shrinksTo ?? Infinity, natural.get(column) ?? 0);
  const needed = columns.reduce((sum, column) => sum + least(column) + gap, -gap);
  const [last] = columns.filter(({ rank = 0 }) => rank > 0).sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0));
  if (needed <= width || last === undefined) return columns;
  return fitting(
    columns.filter((column) => column !== last),
    natural,
    width,
  );
}

function widthsOf<Row>(
  columns: readonly Column<Row>[],
  natural: ReadonlyMap<Column<Row>, number>,
  width: number,
): Map<Column<Row>, number> {
  const widths = new Map(columns.map((column) => [column, natural.get(column) ?? 0]));
  let over = [...widths.values()].reduce((sum, own) => sum + own + gap, -gap) - width;
  // Shrinks the columns that may shrink, the widest first.
  while (over > 0) {
    const [widest] = columns
      .filter((column) => column.shrinksTo !== undefined && (widths.get(column) ?? 0) > Math.min(column.shrinksTo, 4))
      .sort((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0));
    if (widest === undefined) break;
    widths.set(widest, (widths.get(widest) ?? 0) - 1);
    over--;
  }
  return widths;
}
