// What the page of an audit does: tables sort, words find rows, and a rectangle leads to its row. The page that the command
// writes has this text in it, and the page in the browser is built with it.

/** @type {Record<string, number>} */
const UNITS = { B: 1, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30, TIB: 2 ** 40, PIB: 2 ** 50 };

/**
 * The number that a cell says: `1.5 GiB` in bytes, `12 %` as 12; none where it says none.
 * @param {string} text
 * @returns {number | null}
 */
export function amount(text) {
  const match = /^\s*(?:under\s)?(-?[\d.,]+)\s*([KMGTP]?i?B\b|%)?/i.exec(text.replaceAll("\u00a0", " "));
  const number = Number((match?.[1] ?? "x").replaceAll(",", ""));
  return Number.isNaN(number) ? null : number * (UNITS[(match?.[2] ?? "").toUpperCase()] ?? 1);
}

/**
 * Makes an audit answer to whoever uses it. `words` are those that are looked for already.
 * @param {Element} root
 * @param {string} [words]
 */
export function enliven(root, words = "") {
  for (const table of root.querySelectorAll("table")) {
    for (const head of table.querySelectorAll("th")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  }
  const label = document.createElement("label");
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "f32, fusion, conv…";
  field.value = words;
  field.addEventListener("input", () => find(root, field.value));
  label.append("Rows with ", field);
  const line = document.createElement("p");
  line.className = "find";
  line.append(label);
  root.querySelector("style")?.after(line) ?? root.prepend(line);
  find(root, words);
  root.addEventListener("click", (event) => lead(root, event));
  for (const [begins, ends] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    root.addEventListener(begins ?? "", (event) => light(root, event, true));
    root.addEventListener(ends ?? "", (event) => light(root, event, false));
  }
}

/**
 * Sorts by a column, the largest first, and the other way round the second time.
 * @param {HTMLTableElement} table
 * @param {HTMLTableCellElement} head
 */
function sort(table, head) {
  const isDown = head.getAttribute("aria-sort") !== "descending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const rows = [...table.rows].filter((row) => !row.querySelector("th"));
  /** @param {HTMLTableRowElement} row */
  const text = (row) => row.cells[head.cellIndex]?.textContent ?? "";
  rows.sort((a, b) => {
    const [x, y] = [amount(text(a)), amount(text(b))];
    const order = x !== null && y !== null ? x - y : text(a).localeCompare(text(b));
    return isDown ? -order : order;
  });
  rows[0]?.parentElement?.append(...rows);
}

/**
 * Hides rows that do not have all the words, and dims their rectangles.
 * @param {Element} root
 * @param {string} words
 */
function find(root, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  /** @param {Element} element */
  const has = (element) => wanted.every((word) => (element.textContent ?? "").toLowerCase().includes(word));
  for (const row of root.querySelectorAll("tr, details, li")) {
    if (row instanceof HTMLElement && !row.querySelector("th") && !row.parentElement?.closest("details")) row.hidden = !has(row);
  }
  for (const title of root.querySelectorAll("svg title")) title.parentElement?.classList.toggle("dim", !has(title));
}

/**
 * What a link within the audit leads to: a row, or a section that may be closed.
 * @param {Element} root
 * @param {Event} event
 */
function target(root, event) {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  const name = link?.getAttribute("href")?.slice(1);
  return name ? root.querySelector(`[id="${CSS.escape(name)}"]`) : null;
}

/**
 * Goes where a link within the audit leads, and leaves the address as it is.
 * @param {Element} root
 * @param {Event} event
 */
function lead(root, event) {
  const found = target(root, event);
  if (!(found instanceof HTMLElement)) return;
  event.preventDefault();
  found.hidden = false;
  if (found instanceof HTMLDetailsElement) found.open = true;
  const focused = found instanceof HTMLDetailsElement ? found.querySelector("summary") : found;
  if (focused === found) found.tabIndex = -1;
  focused?.focus({ preventScroll: true });
  found.scrollIntoView({ block: "nearest" });
}

/**
 * Shows what belongs to what is pointed at: the row of a rectangle, and the rectangles of a row.
 * @param {Element} root
 * @param {Event} event
 * @param {boolean} isOn
 */
function light(root, event, isOn) {
  const row = target(root, event) ?? (event.target instanceof Element ? event.target.closest("tr[id], details[id]") : null);
  if (!row?.id) return;
  row.classList.toggle("lit", isOn);
  for (const link of root.querySelectorAll(`svg a[href="#${CSS.escape(row.id)}"]`)) link.classList.toggle("lit", isOn);
}
