/** Two layouts: what is the same, and what moves. */

import type { Link, Two, Verdict } from "./answers";
import { copyButton, isStill, later, make, put, say } from "./dom";
import { Refused } from "./engine";
import { drawnWidth, Figure } from "./figure";
import { showProblem } from "./problem";
import type { Page, Tab } from "./tab";

/** The most elements that are seen on their way. */
const MOVING = 600;
/** How long the whole move takes, in milliseconds. */
const MOVE = 2600;
/** How long one element is on its way. */
const FLIGHT = 900;

const SENSES: [key: "function" | "buffer" | "reshape" | "transpose", title: string, yes: string][] = [
  ["function", "Same function", "every index has the same offset in both"],
  ["buffer", "Same buffer", "and as much is allocated"],
  ["reshape", "Free reshape", "A's buffer, read as B, holds the same elements in row-major order"],
  ["transpose", "Free transpose", "A's buffer is B's after some permutation and reshape of the dimensions"],
];

export function twoTab(page: Page): Tab {
  return new TwoTab(page);
}

class TwoTab implements Tab {
  readonly name = "two";
  readonly title = "Two layouts";
  readonly panel: HTMLElement;

  private readonly fields = [this.makeField("A"), this.makeField("B")] as const;
  private readonly problem = make("div", { class: "problem", id: "two-problem", hidden: true });
  private readonly lead = make("h2", { class: "lead" });
  private readonly senses = make("div", { class: "senses" });
  private readonly figures: [Figure, Figure] = [
    new Figure((_, index) => this.light(index)),
    new Figure((_, index) => this.light(index)),
  ];
  private readonly sky = make("div", { class: "sky", "aria-hidden": "true" });
  private readonly stage: HTMLElement;
  private readonly move = make("button", { type: "button", class: "play" }, "Move A to B");
  private readonly reading = make("p", { class: "reading", "aria-live": "polite" });
  private readonly plan = make("div", { class: "plan" });
  private readonly askLater = later(30, () => this.ask());
  private flights: Animation[] = [];

  constructor(private readonly page: Page) {
    this.stage = make(
      "div",
      { class: "stage pair" },
      make("div", {}, make("h3", {}, "A"), this.figures[0].element),
      make("div", {}, make("h3", {}, "B"), this.figures[1].element),
      this.sky,
    );
    this.move.addEventListener("click", () => this.fly());
    const swap = make("button", { type: "button", class: "quiet" }, "Swap");
    swap.addEventListener("click", () => {
      const [a, b] = this.fields.map((field) => field.value) as [string, string];
      this.set(b, a);
    });
    this.panel = make(
      "section",
      { class: "two" },
      make(
        "div",
        { class: "ask" },
        make("label", { for: "two-A" }, "From A"),
        this.fields[0],
        make("label", { for: "two-B" }, "To B: a layout, or braces alone for the same array"),
        this.fields[1],
        this.problem,
      ),
      this.lead,
      this.senses,
      make("div", { class: "walk" }, this.move, swap, copyButton(() => this.page.address(), "the link to this", "Copy link")),
      this.reading,
      this.stage,
      this.plan,
    );
  }

  open(link: Link): void {
    if (link.tab === "two") this.set(link.a, link.b);
  }

  link(): Link {
    return { tab: "two", a: this.fields[0].value, b: this.fields[1].value };
  }

  resized(): void {
    if (this.fields[0].value) this.ask();
  }

  private makeField(name: string): HTMLInputElement {
    const field = make("input", {
      id: `two-${name}`,
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-describedby": "two-problem",
    });
    field.addEventListener("input", () => this.askLater());
    return field;
  }

  private set(a: string, b: string): void {
    this.fields[0].value = a;
    this.fields[1].value = b;
    this.ask();
  }

  private ask(): void {
    this.land();
    this.page.changed();
    const [a, b] = this.fields.map((field) => field.value) as [string, string];
    const width = drawnWidth(this.figures[0].element.clientWidth || 460);
    let two: Two;
    try {
      two = this.page.engine.ask<Two>({ ask: "two", a, b, look: { width, rows: 12, bare: true } });
      showProblem(this.problem, null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      showProblem(this.problem, error.problem);
      this.panel.classList.add("stale");
      return;
    }
    this.panel.classList.remove("stale");
    this.lead.textContent = lead(two);
    put(this.senses, ...SENSES.map(([key, title, yes]) => card(title, yes, two.compared[key])));
    this.figures.forEach((figure, side) => figure.show(two.svgs[side] ?? "", side === 0 ? two.compared.a : two.compared.b));
    this.move.disabled = this.ways().length === 0;
    put(this.reading, "Point at an element: it lights up on both sides.");
    put(
      this.plan,
      two.plan !== null && make("h3", {}, "The loops that move it"),
      two.plan !== null && make("pre", { tabindex: 0 }, two.plan),
      two.no_plan !== null && make("p", { class: "note" }, `No copy: ${two.no_plan}`),
    );
  }

  private light(index: string | null): void {
    for (const figure of this.figures) figure.lightIndex(index);
    if (index !== null) {
      const places = this.figures.map((figure) => figure.cell("memory", index)?.dataset["o"] ?? "a place not shown");
      put(this.reading, make("b", {}, `element (${index.replaceAll(",", ", ")})`), ` is at ${places[0]} in A and at ${places[1]} in B`);
    }
  }

  /** The elements whose places are seen on both sides, in the order of B's memory. */
  private ways(): [SVGGElement, SVGGElement][] {
    const found: [SVGGElement, SVGGElement][] = [];
    for (const to of this.figures[1].element.querySelectorAll<SVGGElement>("g.memory g.cell")) {
      const from = this.figures[0].cell("memory", to.dataset["i"] ?? "");
      if (from) found.push([from, to]);
    }
    return found.slice(0, MOVING);
  }

  /** Shows every element on its way from its place in A's memory to that in B's. */
  private fly(): void {
    this.land();
    const ways = this.ways();
    if (isStill() || typeof this.sky.animate !== "function") {
      say("What moves is in the loops below.");
      this.plan.scrollIntoView({ block: "nearest" });
      return;
    }
    const origin = this.stage.getBoundingClientRect();
    this.stage.classList.add("flying");
    ways.forEach(([from, to], place) => {
      const [a, b] = [from, to].map((cell) => (cell.querySelector("rect") ?? cell).getBoundingClientRect()) as [DOMRect, DOMRect];
      const flyer = make("span", {}, from.querySelector("text")?.textContent ?? "");
      flyer.style.width = `${a.width}px`;
      flyer.style.height = `${a.height}px`;
      flyer.style.lineHeight = `${a.height}px`;
      const fill = from.querySelector("rect")?.getAttribute("fill");
      if (fill) flyer.style.background = fill;
      this.sky.append(flyer);
      to.classList.add("awaited");
      const at = (box: DOMRect) => `translate(${box.x - origin.x}px, ${box.y - origin.y}px)`;
      const flight = flyer.animate([{ transform: at(a) }, { transform: at(b) }], {
        duration: FLIGHT,
        delay: ((MOVE - FLIGHT) * place) / Math.max(1, ways.length),
        easing: "cubic-bezier(.5,0,.2,1)",
        fill: "both",
      });
      flight.onfinish = () => to.classList.remove("awaited");
      this.flights.push(flight);
    });
    void Promise.allSettled(this.flights.map((flight) => flight.finished)).then(() => this.land());
  }

  private land(): void {
    for (const flight of this.flights) flight.cancel();
    this.flights = [];
    put(this.sky);
    this.stage.classList.remove("flying");
    for (const cell of this.figures[1].element.querySelectorAll(".awaited")) cell.classList.remove("awaited");
  }
}

function card(title: string, yes: string, verdict: Verdict): HTMLElement {
  return make(
    "div",
    { class: `sense ${verdict.answer === "yes" ? "yes" : "no"}` },
    make("h3", {}, title),
    make("p", {}, make("b", {}, verdict.answer), ` ${verdict.answer === "yes" ? yes : (verdict.reason ?? "")}`),
  );
}

function lead(two: Two): string {
  const { compared } = two;
  if (compared.buffer.answer === "yes") return "These are the same buffer: nothing moves.";
  if (compared.function.answer === "yes") return "No element moves; only the allocated size differs.";
  const moves = compared.moves;
  if (!moves) {
    return compared.reshape.answer === "yes"
      ? "The same buffer under other dimensions: nothing moves."
      : "There is no copy between these two.";
  }
  const many = (count: number, noun: string) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const run =
    moves.longest_run > 1 ? `runs of up to ${many(moves.longest_run, "element")} stay together` : "no two neighbours stay together";
  return `${many(moves.bytes_read, "byte")} move in ${many(moves.nests, "nest")} of loops; ${run}.`;
}
