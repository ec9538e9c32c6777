type Cell = string | number;

/**
 * Lays out rows in columns, two spaces apart and without trailing blanks. A column of figures ("-" where one does not
 * apply) stands to the right, one of words to the left.
 */
export function layTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const columns = header.map((title, index) => {
    const cells = rows.map((row) => row[index] ?? '');
    const width = Math.max(title.length, ...cells.map((cell) => String(cell).length));
    return { width, figures: cells.every((cell) => typeof cell === 'number' || cell === '-') };
  });
  const lay = (row: readonly Cell[]): string =>
    columns
      .map(({ width, figures }, index) => {
        const text = String(row[index] ?? '');
        return figures ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [lay(header), ...rows.map(lay)];
}
