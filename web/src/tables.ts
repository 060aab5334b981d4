/** Tables that sort by a click on a heading, and rows that are found by a word. */

import { make } from "./dom";

const UNITS: Record<string, number> = { B: 1, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30, TIB: 2 ** 40, PIB: 2 ** 50 };

/** The number that a cell says: `1.5 GiB` in bytes, `12 %` as 12; none where it says none. */
export function amount(text: string): number | null {
  const match = /^\s*(-?[\d.,]+)\s*([KMGTP]?i?B|%)?/i.exec(text.replaceAll("\u00a0", " "));
  if (!match) return null;
  const number = Number((match[1] ?? "").replaceAll(",", ""));
  return Number.isNaN(number) ? null : number * (UNITS[(match[2] ?? "").toUpperCase()] ?? 1);
}

/** Hides rows and lists' items that do not have the words, and makes headings sort. */
export function searchable(root: Element, words: string): void {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of root.querySelectorAll<HTMLElement>("tr, details, li")) {
    if (row.querySelector("th") || row.parentElement?.closest("details")) continue;
    const text = row.textContent?.toLowerCase() ?? "";
    row.hidden = !wanted.every((word) => text.includes(word));
  }
  for (const table of root.querySelectorAll("table")) {
    table.querySelectorAll("th").forEach((head, column) => {
      if (head.querySelector("button") || !head.textContent) return;
      const button = make("button", { type: "button", class: "sort" }, head.textContent);
      button.addEventListener("click", () => sort(table, column, head));
      head.replaceChildren(button);
    });
  }
}

function sort(table: HTMLTableElement, column: number, head: HTMLTableCellElement): void {
  const isDown = head.getAttribute("aria-sort") !== "descending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const rows = [...table.rows].filter((row) => !row.querySelector("th"));
  const text = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? "";
  rows.sort((a, b) => {
    const [x, y] = [amount(text(a)), amount(text(b))];
    const order = x !== null && y !== null ? x - y : text(a).localeCompare(text(b));
    return isDown ? -order : order;
  });
  rows[0]?.parentElement?.append(...rows);
}
