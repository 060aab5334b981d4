/** The text of a layout with its numbers as handles: drag them, or use the arrow keys. */

import { make, put } from "./dom";
import { pieces, stepped, type Piece } from "./numbers";

/** Pixels of a drag for one step. */
const PIXELS = 8;

export class Scrub {
  readonly element = make("p", { class: "scrub", "aria-label": "Numbers of the layout" });
  private shown: Piece[] = [];

  constructor(private readonly changed: (text: string) => void) {}

  show(text: string): void {
    const next = pieces(text);
    const isSame =
      next.length === this.shown.length && next.every((piece, at) => piece.isNumber === this.shown[at]?.isNumber);
    this.shown = next;
    this.element.hidden = !next.some((piece) => piece.isNumber);
    if (!isSame) {
      put(this.element, ...next.map((piece, at) => (piece.isNumber ? this.handle(at) : make("span"))));
    }
    // The elements stay while only numbers change, so that a drag goes on.
    next.forEach((piece, at) => {
      const element = this.element.children[at];
      if (!element) return;
      element.textContent = piece.text;
      if (piece.isNumber) {
        element.setAttribute("aria-valuenow", piece.text);
        element.setAttribute("aria-valuetext", `${piece.text} in ${text}`);
      }
    });
  }

  private handle(at: number): HTMLElement {
    const handle = make("span", {
      role: "slider",
      tabindex: 0,
      "aria-label": "Number",
      "aria-valuemin": 1,
      "aria-valuemax": Number.MAX_SAFE_INTEGER,
      title: "Drag, or use the arrow keys",
    });
    let from = 0;
    let start = 0;
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      event.preventDefault();
      from = this.value(at);
      start = event.clientX;
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      this.set(at, stepped(from, Math.trunc((event.clientX - start) / PIXELS)));
    });
    handle.addEventListener("keydown", (event) => {
      const value = this.value(at);
      const next = {
        ArrowUp: stepped(value, 1),
        ArrowRight: stepped(value, 1),
        ArrowDown: stepped(value, -1),
        ArrowLeft: stepped(value, -1),
        PageUp: value * 2,
        PageDown: Math.max(1, Math.floor(value / 2)),
        Home: 1,
      }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      this.set(at, next);
    });
    return handle;
  }

  private value(at: number): number {
    return Number(this.shown[at]?.text ?? 1);
  }

  private set(at: number, value: number): void {
    if (value === this.value(at)) return;
    this.changed(this.shown.map((piece, place) => (place === at ? String(value) : piece.text)).join(""));
  }
}
