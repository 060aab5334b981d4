/** The numbers in a text that can be changed by dragging: sizes, tiles and strides. */

/** A piece of a text: a number that may be changed, or anything else. */
export interface Piece {
  text: string;
  isNumber: boolean;
}

/** A number by itself, or a size of MLIR's before its `x`. One behind a letter is a part of a name (`bf16`, `nChw16c`). */
const NUMBER = /(?<![\w.#%])\d{1,15}(?![\w.])|(?<=<(?:\d+x)*)\d{1,15}(?=x[\w?])/g;

/** What stands before a list of dimensions, of which one more is none. */
const ORDER = /(?:^|\W)(?:order|orders|major_to_minor|minor_to_major|transpose|permute|inner_dims_pos|outer_dims_perm)\s*=?\s*[[({][\d,\s]*$/;

/** Cuts a text into pieces. Numbers that say an order of dimensions are none to drag, as in `{1,0`. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let before = 0;
  for (const match of text.matchAll(NUMBER)) {
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
  if (ORDER.test(text.slice(0, at))) return true;
  const brace = text.lastIndexOf("{", at);
  return brace >= 0 && /^[\d,\s]*$/.test(text.slice(brace + 1, at));
}

/** The number that so many steps from one lead to: steps grow with the number, so that large ones are reached. */
export function stepped(from: number, steps: number): number {
  const step = from >= 4096 ? 2 ** Math.floor(Math.log2(from) - 7) : from >= 256 ? 8 : 1;
  return Math.max(1, Math.min(Number.MAX_SAFE_INTEGER, from + steps * step));
}
