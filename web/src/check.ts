/** The check of DirectML descriptors: which rules they break, and what would be right. */

import type { Judged, Link } from "./answers";
import { copyButton, later, make, put } from "./dom";
import { Refused } from "./engine";
import { showProblem } from "./problem";
import type { Page, Tab } from "./tab";

const EXAMPLES: [label: string, text: string][] = [
  ["Several at once", "FLOAT16 [5,55] strides [9,3] total 123 alignment 5"],
  ["Padded rows", "FLOAT32 [1,3,224,224] strides [153228,51076,226,1]"],
  ["JSON", '{"DataType": "FLOAT32", "Sizes": [1, 3, 224, 224], "Strides": [150528, 50176, 224], "TotalTensorSizeInBytes": 602110}'],
];

export function checkTab(page: Page): Tab {
  return new CheckTab(page);
}

class CheckTab implements Tab {
  readonly name = "check";
  readonly title = "DirectML check";
  readonly panel: HTMLElement;

  private readonly field = make("textarea", { id: "check", rows: 5, spellcheck: "false", "aria-describedby": "check-problem" });
  private readonly offset = make("input", { id: "check-offset", type: "number", min: 0, placeholder: "0" });
  private readonly buffer = make("input", { id: "check-buffer", type: "number", min: 0, placeholder: "unknown" });
  private readonly problem = make("div", { class: "problem", id: "check-problem", hidden: true });
  private readonly lead = make("h2", { class: "lead" });
  private readonly found = make("div", { class: "judged" });
  private readonly askLater = later(60, () => this.ask());

  constructor(private readonly page: Page) {
    for (const field of [this.field, this.offset, this.buffer]) field.addEventListener("input", () => this.askLater());
    const examples = EXAMPLES.map(([label, text]) => {
      const button = make("button", { type: "button", title: text }, label);
      button.addEventListener("click", () => this.set(text));
      return button;
    });
    this.panel = make(
      "section",
      { class: "check" },
      make(
        "div",
        { class: "ask" },
        make("label", { for: "check" }, "A DML_BUFFER_TENSOR_DESC: a line, JSON, or a whole model file"),
        this.field,
        make(
          "div",
          { class: "bound" },
          make("label", { for: "check-offset" }, "Bound at byte"),
          this.offset,
          make("label", { for: "check-buffer" }, "in a buffer of bytes"),
          this.buffer,
          copyButton(() => this.page.address(), "the link to this", "Copy link"),
        ),
        this.problem,
        make("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...examples),
      ),
      this.lead,
      this.found,
    );
  }

  open(link: Link): void {
    if (link.tab === "check") this.set(link.text);
  }

  link(): Link {
    return { tab: "check", text: this.field.value };
  }

  private set(text: string): void {
    this.field.value = text;
    this.ask();
  }

  private ask(): void {
    this.page.changed();
    const number = (field: HTMLInputElement) => (/^\d+$/.test(field.value) ? Number(field.value) : null);
    let judged: Judged[];
    try {
      judged = this.page.engine.ask<Judged[]>({
        ask: "check",
        text: this.field.value,
        begins: number(this.offset),
        buffer: number(this.buffer),
      });
      showProblem(this.problem, null);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      showProblem(this.problem, error.problem);
      this.panel.classList.add("stale");
      return;
    }
    this.panel.classList.remove("stale");
    const broken = judged.reduce((sum, one) => sum + one.broken.length + one.errors.length, 0);
    const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
    this.lead.textContent =
      broken === 0
        ? `${counted(judged.length, "descriptor")}: nothing is broken.`
        : `${counted(judged.length, "descriptor")}, ${counted(broken, "violation")}.`;
    put(this.found, ...judged.map((one) => this.one(one)));
  }

  private one(judged: Judged): HTMLElement {
    const show = make("button", { type: "button", class: "quiet" }, "Show its memory");
    show.addEventListener("click", () => this.page.open({ tab: "layout", text: judged.descriptor }));
    return make(
      "article",
      { class: judged.ok ? "yes" : "no" },
      make("h3", {}, judged.path, judged.path ? " " : "", make("code", {}, judged.descriptor)),
      ...judged.errors.map((error) => {
        const place = make("div", { class: "problem" });
        showProblem(place, error);
        return place;
      }),
      ...judged.broken.map((broken) =>
        make(
          "div",
          { class: "broken" },
          make("h4", {}, make("code", {}, `${broken.field} = ${broken.value}`)),
          make("p", {}, broken.sentence),
          make(
            "p",
            { class: "cure" },
            `limit: ${broken.limit}`,
            broken.legal !== null && "; legal: ",
            broken.legal !== null && make("code", {}, broken.legal),
            ` (${broken.rule})`,
          ),
        ),
      ),
      make("dl", { class: "parts" }, ...judged.sum.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
      judged.ok && show,
    );
  }
}
