// Plain tables for the terminal: the first column left, the others right.

/** Prints a title, the headers and the rows in aligned columns. */
export function printTable(title, headers, rows) {
  const lines = [headers, ...rows].map((row) => row.map(String));
  const widths = headers.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  console.log(`\n${title}`);
  for (const [index, line] of lines.entries()) {
    console.log(line.map((cell, column) => aligned(cell, widths[column], column)).join("  "));
    if (index === 0) {
      console.log(widths.map((width) => "-".repeat(width)).join("  "));
    }
  }
}

function aligned(cell, width, column) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
