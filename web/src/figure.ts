/** A figure that Rust drew: pointing at an element lights its place, and the other way round. */

import { make } from "./dom";
import { setMarkup } from "./trusted";

const SVG = "http://www.w3.org/2000/svg";

/** The most places that a trail goes through: beyond, it would be a blot. */
const LONGEST_TRAIL = 400;

/** The pictures in a figure. */
const PARTS = "svg > g.array, svg > g.memory, svg > g.legend, svg > g.bank, svg > g.bits, svg > g.register, svg > g.map";
/** Around them. */
const MARGIN = 3;
/** How much larger than drawn a picture may be. */
const LARGEST = 1.5;

export class Figure {
  readonly element = make("div", { class: "figure" });
  /** The offsets of the elements that are shown, in the order of memory. */
  offsets: string[] = [];
  /** How many times as large as drawn there is room for. */
  scale = 1;
  private size: [width: number, height: number] = [0, 0];
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

  show(svg: string): void {
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
    this.crop();
  }

  /** Shows the pictures alone, as large as there is room: the page says around them what the figure says above them. */
  private crop(): void {
    const svg = this.element.querySelector("svg");
    if (!svg) return;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const part of svg.querySelectorAll<SVGGElement>(PARTS)) {
      const box = part.getBBox();
      if (box.width === 0) continue;
      const move = part.transform.baseVal.consolidate()?.matrix;
      const [x, y] = [box.x + (move?.e ?? 0), box.y + (move?.f ?? 0)];
      [left, top] = [Math.min(left, x), Math.min(top, y)];
      [right, bottom] = [Math.max(right, x + box.width), Math.max(bottom, y + box.height)];
    }
    if (left >= right) return;
    const [width, height] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
    svg.setAttribute("viewBox", `${left - MARGIN} ${top - MARGIN} ${width} ${height}`);
    this.size = [width, height];
    this.scale = Math.min(LARGEST, (this.element.clientWidth || width) / width);
    this.enlarge(this.scale);
  }

  /** Shows it so many times as large as it is drawn. */
  enlarge(scale: number): void {
    const svg = this.element.querySelector("svg");
    svg?.setAttribute("width", String(this.size[0] * scale));
    svg?.setAttribute("height", String(this.size[1] * scale));
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
