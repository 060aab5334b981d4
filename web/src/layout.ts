/** One layout: its picture, and what there is to say of it. */

import type { Beside, Explained, Link, Point } from "./answers";
import { copyButton, later, make, put } from "./dom";
import { Refused } from "./engine";
import { Figure } from "./figure";
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
  private readonly scrub = new Scrub((text) => this.set(text));
  private readonly problem = make("div", { class: "problem", id: "layout-problem", hidden: true });
  private readonly lead = make("h2", { class: "lead" });
  private readonly figure = new Figure((offset) => {
    if (offset !== null) this.select(offset);
  });
  private readonly reading = make("p", { class: "reading", "aria-live": "polite" });
  private readonly walk = new Walk(this.figure, (offset) => this.select(offset));
  private readonly told = make("div", { class: "told" });
  private readonly more = make("div", { class: "told" });
  private readonly moreLater = later(120, () => this.showMore());

  constructor(private readonly page: Page) {
    this.field.addEventListener("input", () => this.set(this.field.value));
    const examples = EXAMPLES.map(([label, text]) => {
      const button = make("button", { type: "button", title: text }, label);
      button.addEventListener("click", () => this.set(text));
      return button;
    });
    this.panel = make(
      "section",
      { class: "layout" },
      make(
        "div",
        { class: "ask" },
        make("label", { for: "layout" }, "A layout, in any notation"),
        this.field,
        this.problem,
        make("div", { class: "handles" }, this.scrub.element, make("p", { class: "hint" }, "drag a number")),
        make("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...examples),
      ),
      make(
        "div",
        { class: "shown" },
        this.lead,
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
    this.at = link.at ?? null;
    this.set(link.text, this.at);
  }

  link(): Link {
    return { tab: "layout", text: this.text, at: this.at };
  }

  resized(): void {
    if (this.text && Math.abs(this.room() - this.width) > 24) this.set(this.text, this.at);
  }

  /** Shows a text; what was pointed at before is forgotten unless it is given. */
  private set(text: string, at: string | null = null): void {
    this.walk.stop();
    this.text = text;
    if (this.field.value !== text) this.field.value = text;
    this.scrub.show(text);
    this.page.changed();
    this.width = this.room();
    try {
      const look = { width: this.width, rows: 16 };
      this.said = this.page.engine.ask<Explained>({ ask: "layout", text, look });
      this.field.removeAttribute("aria-invalid");
      showProblem(this.problem, null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.field.setAttribute("aria-invalid", "true");
      showProblem(this.problem, error.problem);
      this.panel.classList.add("stale");
      return;
    }
    this.panel.classList.remove("stale");
    this.showSaid(this.said, at);
    this.moreLater();
  }

  private room(): number {
    const width = this.figure.element.clientWidth || 760;
    // Drawn for less room than there is, and then enlarged.
    return Math.floor(Math.max(280, Math.min(1400, width > 560 ? width / 1.3 : width)));
  }

  private showSaid(said: Explained, at: string | null): void {
    this.lead.textContent = said.lead;
    this.figure.show(said.array?.svg ?? "");
    this.walk.reset();
    this.select(at ?? null);
    const array = said.array;
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

  private sizes(array: NonNullable<Explained["array"]>): HTMLElement {
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
      this.beside = this.page.engine.ask<Beside>({ ask: "beside", text: this.text });
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
      button("SVG", () => saveSvg(this.figure.element)),
      button("PNG", () => void savePng(this.figure.element)),
      copyButton(() => this.markdown(), "this for an issue", "Markdown"),
    );
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
