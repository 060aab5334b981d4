/** The tour: a layout, what there is to see, and a question, at each step. */

import type { Explained, Link, Point } from "./answers";
import { make, put, say } from "./dom";
import { Refused } from "./engine";
import { drawnWidth, Figure } from "./figure";
import type { Page, Tab } from "./tab";
import { Walk } from "./walk";

interface Step {
  number: number;
  of: number;
  title: string;
  words: string[];
  layout: string;
  element: number[];
  offset: string;
  worked: string;
  found: string;
  titles: string[];
}

export function learnTab(page: Page): Tab {
  return new LearnTab(page);
}

class LearnTab implements Tab {
  readonly name = "learn";
  readonly title = "Learn";
  readonly panel: HTMLElement;

  private step: Step | null = null;
  private readonly list = make("ol", { class: "steps" });
  private readonly heading = make("h2", { class: "lead", tabindex: -1 });
  private readonly words = make("div", { class: "words" });
  private readonly question = make("form", { class: "question" });
  private readonly answer = make("p", { class: "answer", "aria-live": "polite" });
  private readonly reading = make("p", { class: "reading" });
  private readonly figure = new Figure((offset) => this.point(offset));
  private readonly walk = new Walk(this.figure, (offset) => this.point(offset));
  private readonly turn = make("div", { class: "turn" });

  constructor(private readonly page: Page) {
    this.panel = make(
      "section",
      { class: "learn" },
      make("nav", { "aria-label": "Steps of the tour" }, this.list),
      make(
        "div",
        { class: "lesson" },
        this.heading,
        this.words,
        make("div", { class: "stage" }, this.figure.element),
        this.walk.element,
        this.reading,
        this.question,
        this.answer,
        this.turn,
      ),
    );
    this.figure.element.addEventListener("click", (event) => {
      const cell = (event.target as Element).closest<SVGGElement>("g.cell, g.pad");
      if (cell?.dataset["o"] !== undefined) this.judge(cell.dataset["o"]);
    });
  }

  open(link: Link): void {
    if (link.tab === "learn") this.show(link.step);
  }

  link(): Link {
    return { tab: "learn", step: this.step?.number ?? 1 };
  }

  resized(): void {
    if (this.step) this.show(this.step.number);
  }

  private show(number: number): void {
    const step = this.page.engine.ask<Step>({ ask: "step", step: number });
    this.step = step;
    this.heading.textContent = `${step.number}. ${step.title}`;
    put(
      this.list,
      ...step.titles.map((title, place) => {
        const button = make("button", { type: "button", "aria-current": place + 1 === step.number ? "step" : null }, title);
        button.addEventListener("click", () => this.go(place + 1));
        return make("li", {}, button);
      }),
    );
    const [list, now] = [this.list, this.list.children[step.number - 1] as HTMLElement | undefined];
    list.scrollLeft = (now?.offsetLeft ?? 0) - list.offsetLeft - 16;
    put(this.words, make("p", { class: "notation" }, make("code", {}, step.layout)), ...step.words.map((text) => make("p", {}, text)));
    const width = drawnWidth(this.figure.element.clientWidth || 640);
    const said = this.page.engine.ask<Explained>({ ask: "layout", text: step.layout, look: { width, rows: 12, bare: true } });
    this.figure.show(said.array?.svg ?? "", said.text);
    this.walk.reset();
    put(this.reading, "Point at a cell: the element and its place light up together.");
    this.ask(step);
    const turn = (label: string, to: number) => {
      const button = make("button", { type: "button", disabled: to < 1 || to > step.of, class: to > step.number ? "play" : "quiet" }, label);
      button.addEventListener("click", () => this.go(to));
      return button;
    };
    const open = make("button", { type: "button", class: "quiet" }, "Play with this layout");
    open.addEventListener("click", () => this.page.open({ tab: "layout", text: step.layout }));
    put(this.turn, turn("Back", step.number - 1), turn("Next", step.number + 1), open);
  }

  private go(number: number): void {
    this.page.open({ tab: "learn", step: number });
    this.heading.focus({ preventScroll: true });
  }

  private ask(step: Step): void {
    const field = make("input", { id: "answer", type: "text", inputmode: "numeric", autocomplete: "off", size: 6 });
    const label = make("label", { for: "answer" }, `Where is element (${step.element.join(", ")})? Click its cell, or type its offset.`);
    put(this.question, label, field, make("button", { type: "submit" }, "Check"));
    put(this.answer);
    this.answer.className = "answer";
    this.question.onsubmit = (event) => {
      event.preventDefault();
      if (field.value.trim()) this.judge(field.value.trim());
    };
  }

  private judge(offset: string): void {
    const step = this.step;
    if (!step) return;
    const isRight = offset === step.offset;
    this.answer.className = `answer ${isRight ? "yes" : "no"}`;
    if (isRight) {
      this.figure.light(step.offset);
      put(this.answer, make("b", {}, "Yes. "), step.found, make("span", { class: "formula" }, step.worked));
      say("Yes");
    } else {
      put(this.answer, make("b", {}, "Not there. "), this.whatIsAt(step, offset));
    }
  }

  private whatIsAt(step: Step, offset: string): string {
    try {
      return `${this.page.engine.ask<Point>({ ask: "point", text: step.layout, offset, index: null }).words}.`;
    } catch (error) {
      if (error instanceof Refused) return error.problem.found;
      throw error;
    }
  }

  private point(offset: string | null): void {
    if (offset === null) return;
    this.figure.light(offset);
    this.figure.trail(true);
    const words = this.step ? this.whatIsAt(this.step, offset) : "";
    this.walk.follow(offset, words);
    put(this.reading, words);
  }
}
