/** One layout: its picture, and what there is to say of it. */

import type { ArraySaid, Beside, Explained, Link, Point } from "./answers";
import { afterPaint, copyButton, later, make, put } from "./dom";
import { Refused } from "./engine";
import { drawnWidth, Figure } from "./figure";
import { savePng, saveSvg } from "./picture-files";
import { showProblem } from "./problem";
import { Scrub } from "./scrub";
import type { Page, Tab } from "./tab";
import { Walk } from "./walk";

const EXAMPLES: [label: string, text: string][] = [
  ["Tiles in tiles", "bf16[4,8]{1,0:T(2,4)(2,1)}"],
  ["Row-major", "f32[3,5]{1,0}"],
  ["One tile", "f32[3,5]{1,0:T(2,2)}"],
  ["32 times too large", "s32[8388608,8,4]{2,1,0:T(8,128)}"],
  ["TPU", "bf16[64,300]{1,0:T(8,128)(2,1)}"],
  ["NumPy", "float32 (3, 5) strides (4, 12)"],
  ["DirectML", "FLOAT16 NHWC [1,8,4,4]"],
  ["oneDNN", "f32[1,20,3,3] nChw16c"],
  ["CuTe", "f32 ((2,2),(2,3)):((2,12),(1,4))"],
  ["MLIR", "memref<3x5xf32, strided<[8, 1]>>"],
];

/** Rows of the array that are shown. */
const ROWS = 10;

export function layoutTab(page: Page): Tab {
  return new LayoutTab(page);
}

class LayoutTab implements Tab {
  readonly name = "layout";
  readonly title = "Layout";
  readonly panel: HTMLElement;

  private text = "";
  private at: string | null = null;
  private said: Explained | null = null;
  private beside: Beside | null = null;
  private width = 0;

  private readonly field = make("input", {
    id: "layout",
    type: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": "layout-problem",
  });
  private readonly axes = make("input", {
    id: "axes",
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    size: 14,
    placeholder: "N,C,H,W",
    "aria-describedby": "layout-problem",
  });
  private readonly scrub = new Scrub((text) => this.set(text));
  private readonly problem = make("div", { class: "problem", id: "layout-problem", hidden: true });
  private readonly lead = make("h2", { class: "lead" });
  private readonly filling = make("p", { class: "note filling" });
  private readonly figure = new Figure((offset) => {
    if (offset !== null) this.select(offset);
  });
  private readonly reading = make("p", { class: "reading", "aria-live": "polite" });
  private readonly slices = make("div", { class: "slices", role: "group", "aria-label": "Slice", hidden: true });
  private slice: (number | null)[] = [];
  private readonly walk = new Walk(this.figure, (offset) => this.select(offset));
  private readonly told = make("div", { class: "told" });
  private readonly more = make("div", { class: "told" });
  private readonly toldLater = afterPaint(() => this.showTold());
  private readonly moreLater = later(120, () => void this.page.ready.then(() => this.showMore()));

  constructor(private readonly page: Page) {
    this.field.addEventListener("input", () => this.set(this.field.value));
    this.axes.addEventListener("input", () => this.set(this.text, this.at));
    const examples = EXAMPLES.map(([label, text]) => {
      const button = make("button", { type: "button", title: text }, label);
      button.addEventListener("click", () => this.set(text));
      return button;
    });
    const tour = make("button", { type: "button", class: "quiet tour" }, "New to this? Take the tour");
    tour.addEventListener("click", () => page.open({ tab: "learn", step: 1 }));
    this.panel = make(
      "section",
      { class: "layout" },
      make(
        "div",
        { class: "ask" },
        make("label", { for: "layout" }, "A layout, in any notation"),
        this.field,
        this.problem,
        make(
          "div",
          { class: "handles" },
          this.scrub.element,
          make("p", { class: "hint" }, "drag a number"),
          make("p", { class: "named" }, make("label", { for: "axes" }, "dimensions called"), this.axes),
        ),
        make("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...examples, tour),
      ),
      make(
        "div",
        { class: "shown" },
        this.lead,
        this.filling,
        this.slices,
        make("div", { class: "stage" }, this.figure.element),
        this.walk.element,
        this.reading,
        this.files(),
      ),
      make("div", { class: "beside" }, this.told, this.more),
    );
  }

  open(link: Link): void {
    if (link.tab !== "layout") return;
    this.text = link.text;
    this.slice = link.slice ?? [];
    this.axes.value = link.axes ?? "";
    this.set(link.text, link.at ?? null);
  }

  link(): Link {
    // The first slice is what is shown without one.
    const slice = this.slice.some((at) => at !== null && at > 0) ? this.slice : [];
    return { tab: "layout", text: this.text, at: this.at, slice, axes: this.axes.value };
  }

  resized(): void {
    if (this.text && Math.abs(this.room() - this.width) > 24) this.set(this.text, this.at);
  }

  /** Shows a text; what was pointed at before is forgotten unless it is given. */
  private set(text: string, at: string | null = null): void {
    this.walk.stop();
    if (text !== this.text) this.slice = [];
    this.text = text;
    if (this.field.value !== text) this.field.value = text;
    this.scrub.show(text);
    this.page.changed();
    this.width = this.room();
    try {
      const look = { width: this.width, rows: ROWS, slice: this.slice, bare: true };
      this.said = this.page.engine.ask<Explained>({ ask: "layout", text, axes: this.axes.value, look });
      this.field.removeAttribute("aria-invalid");
      showProblem(this.problem, null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.field.setAttribute("aria-invalid", "true");
      showProblem(this.problem, error.problem);
      this.offerFound();
      this.panel.classList.add("stale");
      return;
    }
    this.panel.classList.remove("stale");
    this.showSaid(this.said, at);
  }

  /** What stands in a text that is more than a layout, such as a line of a log. */
  private offerFound(): void {
    const found = this.text.length > 12 ? this.page.engine.ask<string[]>({ ask: "find", text: this.text }) : [];
    if (found.length === 0) return;
    const offer = (text: string) => {
      const button = make("button", { type: "button", class: "text" }, text);
      button.addEventListener("click", () => this.set(text));
      return make("li", {}, button);
    };
    this.problem.append(make("p", {}, make("b", {}, "In this text")), make("ul", {}, ...found.map(offer)));
  }

  private room(): number {
    return drawnWidth(this.figure.element.clientWidth || 760);
  }

  private showSaid(said: Explained, at: string | null): void {
    this.lead.textContent = said.lead;
    this.filling.textContent = said.array?.filling ?? "";
    this.showSlices(said.array);
    this.figure.show(said.array?.svg ?? "", said.text);
    this.walk.reset();
    this.select(at ?? null);
    // The picture comes first, and what is said of it when the picture is there.
    this.toldLater();
  }

  private showTold(): void {
    const said = this.said;
    if (!said) return;
    const { array } = said;
    this.moreLater();
    put(
      this.told,
      make("h3", {}, "How to read it"),
      make(
        "dl",
        { class: "parts" },
        ...said.parts.flatMap((part) => [make("dt", {}, part.text), make("dd", {}, part.meaning)]),
      ),
      said.parts.length === 0 && make("p", {}, said.notation[1]),
      array && make("h3", {}, "What it takes"),
      array && this.sizes(array),
      array?.formula && make("h3", {}, "Where each element is"),
      array?.formula && make("p", { class: "formula" }, array.formula),
      ...said.notes.map((note) => make("p", { class: "note" }, note)),
      said.leaves.length > 0 && make("h3", {}, "Its arrays"),
      ...said.leaves.map((leaf) => {
        const button = make("button", { type: "button", class: "text" }, leaf.text);
        button.addEventListener("click", () => this.set(leaf.text));
        return make("p", {}, `{${leaf.path}} `, button, leaf.size ? ` ${leaf.size}` : "");
      }),
    );
  }

  /** Of more than two dimensions, where in the others the slice is that is shown. */
  private showSlices(array: ArraySaid | null): void {
    const slice = array?.slice ?? null;
    this.slices.hidden = !slice || !array;
    if (!slice || !array) return;
    const names = array.letters.join();
    const isSame = this.slice.length === slice.length && this.slices.dataset["names"] === names;
    this.slices.dataset["names"] = names;
    this.slice = slice;
    // A field that is being used stays.
    if (isSame) return;
    put(
      this.slices,
      make("span", {}, "slice at"),
      ...slice.flatMap((at, dim) => {
        if (at === null) return [];
        const field = make("input", { type: "number", id: `slice-${dim}`, min: 0, max: (array.dims[dim] ?? 1) - 1, value: at });
        field.addEventListener("input", () => {
          const wanted = Math.max(0, Math.min((array.dims[dim] ?? 1) - 1, Math.floor(Number(field.value))));
          if (Number.isNaN(wanted)) return;
          this.slice = this.slice.map((other, place) => (place === dim ? wanted : other));
          this.set(this.text);
        });
        return [make("label", { for: `slice-${dim}` }, `${array.letters[dim]} =`), field];
      }),
    );
  }

  private sizes(array: ArraySaid): HTMLElement {
    const share = array.share ?? 0;
    const bar = make("div", { class: "bar", "aria-hidden": "true" }, make("span", { class: "data" }));
    (bar.firstElementChild as HTMLElement).style.width = `${(100 - share * 100).toFixed(3)}%`;
    return make(
      "div",
      { class: "sizes" },
      bar,
      make(
        "dl",
        {},
        make("dt", {}, "elements"),
        make("dd", {}, `${array.elements.toLocaleString("en")} in ${array.element_words}`),
        make("dt", {}, "allocated"),
        make("dd", {}, `${array.allocated.toLocaleString("en")} places, ${array.allocated_words}`),
        array.padding_words && make("dt", {}, "padding"),
        array.padding_words && make("dd", {}, `${array.padding_words}, ${(share * 100).toPrecision(3)} % of the memory`),
      ),
      array.causes.length > 0 && make("ul", { class: "causes" }, ...array.causes.map((cause) => make("li", {}, cause))),
    );
  }

  /** Points at a place: its element lights up, and the formula is worked out for it. */
  private select(offset: string | null): void {
    this.at = offset;
    this.figure.light(offset);
    this.figure.trail(offset !== null);
    this.page.changed();
    if (offset === null) {
      put(this.reading, "Point at a cell, or walk through memory: the element and its place light up together.");
      return;
    }
    try {
      const point = this.page.engine.ask<Point>({ ask: "point", text: this.text, offset, index: null });
      this.walk.follow(offset, point.words);
      put(this.reading, make("b", {}, point.words), point.worked && make("span", { class: "formula" }, point.worked));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      put(this.reading, error.problem.found);
    }
  }

  /** What takes longer to find out. */
  private showMore(): void {
    try {
      this.beside = this.page.engine.ask<Beside>({ ask: "beside", text: this.text, axes: this.axes.value });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.beside = null;
    }
    const beside = this.beside;
    if (!beside) return put(this.more);
    const { suggested } = beside;
    const texts = beside.translated.flatMap((one) => one.translations);
    const row = (one: { name: string; text: string }) =>
      make(
        "div",
        { class: "notation" },
        make("dt", {}, one.name),
        make("dd", {}, make("code", {}, one.text), copyButton(() => one.text, `the text for ${one.name}`)),
      );
    const smaller = (suggested ? [...suggested.layouts, ...suggested.arrays] : []).filter((one) => one.saved_bytes > 0);
    put(
      this.more,
      smaller.length > 0 && make("h3", {}, "Smaller"),
      smaller.length > 0 && make("p", { class: "note" }, "By size only: the compiler may need this order."),
      ...smaller.slice(0, 5).map((one) => {
        const times = suggested ? suggested.given.allocated_bytes / one.allocated_bytes : 1;
        const button = make("button", { type: "button", class: "text" }, one.shape);
        button.addEventListener("click", () => this.set(one.shape));
        return make("p", { class: "smaller" }, button, ` ${times.toPrecision(3)} times less`);
      }),
      texts.length > 0 && make("h3", {}, "The same in other notations"),
      make("dl", { class: "notations" }, ...unlike(texts).map(row)),
      texts.some((one) => one.reason) &&
        make(
          "details",
          {},
          make("summary", {}, "Not in these, and why"),
          make(
            "dl",
            { class: "reasons" },
            ...texts.flatMap((one) => (one.reason ? [make("dt", {}, one.name), make("dd", {}, one.reason)] : [])),
          ),
        ),
    );
  }

  private files(): HTMLElement {
    const button = (label: string, act: () => void) => {
      const made = make("button", { type: "button", class: "quiet" }, label);
      made.addEventListener("click", act);
      return made;
    };
    return make(
      "div",
      { class: "files", role: "group", "aria-label": "Take it with you" },
      copyButton(() => this.page.address(), "the link to this", "Copy link"),
      button("SVG", () => saveSvg(this.whole())),
      button("PNG", () => void savePng(this.whole())),
      copyButton(() => this.markdown(), "this for an issue", "Markdown"),
    );
  }

  /** The figure as a file has it: with its title. */
  private whole(): string {
    const look = { width: this.width, rows: ROWS, slice: this.slice };
    return this.page.engine.ask<Explained>({ ask: "layout", text: this.said?.text ?? "", axes: this.axes.value, look }).array?.svg ?? "";
  }

  /** What can be pasted into an issue. */
  private markdown(): string {
    if (this.beside === null) this.showMore();
    const words = this.beside?.words ?? this.said?.lead ?? "";
    return `\`\`\`text\n${words}\n\`\`\`\n\n[the same, to point at](${this.page.address()})\n`;
  }
}

/** Texts, each once: a notation may say the same under two names. */
function unlike(all: { name: string; text: string | null }[]): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  for (const { name, text } of all) {
    if (text !== null && !found.some((other) => other.text === text)) found.push({ name, text });
  }
  return found;
}
