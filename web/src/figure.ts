/** A figure that Rust drew: pointing at an element lights its place, and the other way round. */

import { make } from "./dom";
import { setMarkup } from "./trusted";

const SVG = "http://www.w3.org/2000/svg";

/** The most places that a trail goes through: beyond, it would be a blot. */
const LONGEST_TRAIL = 400;

/** Around the pictures, at the sides and above them. */
const MARGIN = 14;
const TOP = 34;
/** How many times as large as drawn pictures are shown, where there is room. */
const LARGER = 1.3;

/** The width to draw for, in a space of this many pixels. */
export function drawnWidth(room: number): number {
  return Math.floor(Math.max(280, Math.min(1400, room > 560 ? room / LARGER : room)));
}

export class Figure {
  readonly element = make("div", { class: "figure" });
  /** The offsets of the elements that are shown, in the order of memory. */
  offsets: string[] = [];
  private cells = new Map<string, SVGGElement[]>();
  private byIndex = new Map<string, SVGGElement[]>();
  private lit: SVGGElement[] = [];
  /** The place that is lit. */
  at: string | null = null;

  constructor(private readonly pointed: (offset: string | null, index: string | null) => void = () => {}) {
    this.element.addEventListener("pointerover", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => this.pointed(null, null));
    this.element.addEventListener("click", (event) => this.point(event));
  }

  /** Shows a figure without title; `label` says what it is. */
  show(svg: string, label: string): void {
    setMarkup(this.element, svg);
    this.cells.clear();
    this.byIndex.clear();
    for (const cell of this.element.querySelectorAll<SVGGElement>("g.cell, g.pad")) {
      const { o, i } = cell.dataset;
      if (o !== undefined) add(this.cells, o, cell);
      if (i !== undefined) add(this.byIndex, i, cell);
    }
    const shown = [...this.element.querySelectorAll<SVGGElement>("g.memory g.cell")];
    this.offsets = [...new Set((shown.length ? shown : this.all()).map((cell) => cell.dataset["o"] ?? ""))];
    this.offsets.sort((a, b) => (a.length - b.length) || (a < b ? -1 : 1));
    this.lit = [];
    this.at = null;
    this.enlarge(label);
  }

  /** Takes the margin away, and shows it larger than it is drawn where there is room. Nothing is measured, as that takes time. */
  private enlarge(label: string): void {
    const svg = this.element.querySelector("svg");
    const [, , width = 0, height = 0] = svg?.getAttribute("viewBox")?.split(" ").map(Number) ?? [];
    if (!svg || width === 0) return;
    const [wide, high] = [width - 2 * MARGIN, height - TOP - MARGIN];
    svg.setAttribute("viewBox", `${MARGIN} ${TOP} ${wide} ${high}`);
    svg.setAttribute("width", String(Math.round(wide * LARGER)));
    svg.setAttribute("height", String(Math.round(high * LARGER)));
    svg.setAttribute("aria-label", label);
  }

  /** Lights the place and its element. */
  light(offset: string | null): void {
    this.at = offset;
    this.paint(offset === null ? [] : (this.cells.get(offset) ?? []));
  }

  /** Lights an element by its index. */
  lightIndex(index: string | null): void {
    this.paint(index === null ? [] : (this.byIndex.get(index) ?? []));
  }

  /** The cell of an element in one of the two pictures. */
  cell(picture: "array" | "memory", index: string): SVGGElement | undefined {
    return this.byIndex.get(index)?.find((cell) => cell.closest(`g.${picture}`));
  }

  /** Draws the way through the array in the order of memory, up to the place that is lit; none takes it away. */
  trail(isShown: boolean): void {
    this.element.querySelector("polyline.trail")?.remove();
    const array = this.element.querySelector<SVGGElement>("g.array");
    const end = this.at === null ? -1 : this.offsets.indexOf(this.at);
    if (!isShown || !array || end < 1) return;
    const points: string[] = [];
    const home = array.getCTM()?.inverse();
    for (const offset of this.offsets.slice(Math.max(0, end - LONGEST_TRAIL), end + 1)) {
      const cell = this.cells.get(offset)?.find((cell) => array.contains(cell));
      const rect = cell?.querySelector("rect");
      const there = rect?.getCTM();
      if (!rect || !there || !home) continue;
      const box = rect.getBBox();
      const centre = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2).matrixTransform(home.multiply(there));
      points.push(`${centre.x.toFixed(1)},${centre.y.toFixed(1)}`);
    }
    const line = document.createElementNS(SVG, "polyline");
    line.setAttribute("class", "trail");
    line.setAttribute("points", points.join(" "));
    array.append(line);
  }

  private all(): SVGGElement[] {
    return [...this.element.querySelectorAll<SVGGElement>("g.cell")];
  }

  private paint(cells: SVGGElement[]): void {
    for (const cell of this.lit) cell.classList.remove("lit");
    for (const cell of cells) cell.classList.add("lit");
    this.lit = cells;
  }

  private point(event: Event): void {
    const cell = (event.target as Element).closest<SVGGElement>("g.cell, g.pad");
    if (cell?.dataset["o"] !== undefined) this.pointed(cell.dataset["o"], cell.dataset["i"] ?? null);
  }
}

function add(map: Map<string, SVGGElement[]>, key: string, cell: SVGGElement): void {
  const cells = map.get(key);
  if (cells) cells.push(cell);
  else map.set(key, [cell]);
}
