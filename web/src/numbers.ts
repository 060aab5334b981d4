/** The numbers in a text that can be changed by dragging: sizes, tiles and strides. */

/** A piece of a text: a number that may be changed, or anything else. */
export interface Piece {
  text: string;
  isNumber: boolean;
}

/**
 * Cuts a text into pieces. A number behind a letter is a part of a name (`bf16`, `nChw16c`), and the numbers that begin a
 * brace of XLA (`{1,0`) are an order of dimensions, where one more is none.
 */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let before = 0;
  for (const match of text.matchAll(/(?<![\w.#%])\d{1,15}(?![\w.])/g)) {
    const at = match.index;
    if (isOrder(text, at)) continue;
    if (at > before) found.push({ text: text.slice(before, at), isNumber: false });
    found.push({ text: match[0], isNumber: true });
    before = at + match[0].length;
  }
  if (before < text.length) found.push({ text: text.slice(before), isNumber: false });
  return found;
}

function isOrder(text: string, at: number): boolean {
  const brace = text.lastIndexOf("{", at);
  return brace >= 0 && /^[\d,\s]*$/.test(text.slice(brace + 1, at));
}

/** The number that so many steps from one lead to: steps grow with the number, so that large ones are reached. */
export function stepped(from: number, steps: number): number {
  const step = from >= 4096 ? 2 ** Math.floor(Math.log2(from) - 7) : from >= 256 ? 8 : 1;
  return Math.max(1, Math.min(Number.MAX_SAFE_INTEGER, from + steps * step));
}
