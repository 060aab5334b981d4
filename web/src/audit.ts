/** The audit of a dump, a log or a message: where the memory goes. */

import sample from "../../samples/out_of_memory.txt";
import code from "worker:./audit-worker.ts";
import type { Audited, Link } from "./answers";
import type { Ask, Say } from "./audit-worker";
import { later, make, put, save, say } from "./dom";
import { filesOf } from "./dropped";
import { showProblem } from "./problem";
import { searchable } from "./tables";
import type { Page, Tab } from "./tab";
import { setMarkup, startWorker } from "./trusted";

export function auditTab(page: Page): Tab {
  return new AuditTab(page);
}

class AuditTab implements Tab {
  readonly name = "audit";
  readonly title = "Memory audit";
  readonly panel: HTMLElement;

  private worker: Worker | null = null;
  private readonly instead = new Set<string>();

  private readonly paste = make("textarea", {
    id: "audit",
    rows: 4,
    spellcheck: "false",
    placeholder: "An out-of-memory message, a log, or any text with shapes in it",
  });
  private readonly files = make("input", { type: "file", multiple: true, id: "audit-files", class: "unseen" });
  private readonly folder = make("input", { type: "file", webkitdirectory: true, id: "audit-folder", class: "unseen" });
  private readonly progress = make("progress", { max: 1, value: 0, "aria-label": "Read so far" });
  private readonly state = make("p", { class: "state", role: "status" });
  private readonly busy = make("div", { class: "busy", hidden: true }, this.progress);
  private readonly problem = make("div", { class: "problem", hidden: true });
  private readonly filter = make("input", { type: "search", id: "audit-filter", placeholder: "f32, fusion, conv…" });
  private readonly tools = make("div", { class: "tools", hidden: true });
  private readonly offers = make("div", { class: "offers", hidden: true });
  private readonly page_ = make("div", { class: "audited" });
  private readonly readLater = later(250, () => this.readPasted());

  constructor(private readonly page: Page) {
    this.paste.addEventListener("input", () => this.readLater());
    for (const input of [this.files, this.folder]) {
      input.addEventListener("change", () => {
        this.read([...(input.files ?? [])]);
        input.value = "";
      });
    }
    const choose = (label: string, input: HTMLInputElement) => {
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => input.click());
      return button;
    };
    const example = make("button", { type: "button", class: "quiet" }, "Try a message");
    example.addEventListener("click", () => {
      this.paste.value = sample;
      this.readPasted();
    });
    const drop = make(
      "div",
      { class: "drop" },
      make("p", {}, make("b", {}, "Drop a dump here"), ": the folder of ", make("code", {}, "--xla_dump_to"), ", some of its files, or a log."),
      make("p", { class: "choices" }, choose("Choose files", this.files), choose("Choose a folder", this.folder), example),
      this.files,
      this.folder,
      make("label", { for: "audit" }, "or paste"),
      this.paste,
    );
    for (const input of [this.files, this.folder]) {
      input.tabIndex = -1;
      input.setAttribute("aria-hidden", "true");
    }
    this.panel = make("section", { class: "audit" }, drop, this.busy, this.state, this.problem, this.offers, this.tools, this.page_);
    this.panel.addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    this.panel.addEventListener("dragleave", () => drop.classList.remove("over"));
    this.panel.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer) void filesOf(event.dataTransfer).then((files) => this.read(files));
    });
    this.filter.addEventListener("input", () => searchable(this.page_, this.filter.value));
    const words = make("button", { type: "button", class: "quiet" }, "Save as text");
    words.addEventListener("click", () => this.ask({ do: "words" }));
    const whole = make("button", { type: "button", class: "quiet" }, "Save as a page");
    whole.addEventListener("click", () => this.ask({ do: "file" }));
    put(
      this.tools,
      make("label", { for: "audit-filter" }, "Rows with"),
      this.filter,
      words,
      whole,
    );
  }

  open(): void {}

  link(): Link {
    return { tab: "audit" };
  }

  private readPasted(): void {
    const text = this.paste.value;
    if (text.trim()) this.read([new File([text], "pasted")]);
  }

  private read(files: File[]): void {
    if (files.length === 0) return;
    this.instead.clear();
    showProblem(this.problem, null);
    this.busy.hidden = false;
    this.state.textContent = "Reading…";
    this.ask({ do: "read", files });
  }

  private ask(asked: Ask): void {
    if (!this.worker) {
      this.worker = startWorker(code);
      this.worker.onmessage = (event: MessageEvent<Say>) => this.hear(event.data);
      this.worker.onerror = (event) => this.stopped(event.message);
      this.worker.postMessage({ do: "start", module: this.page.module } satisfies Ask);
    }
    this.worker.postMessage(asked);
  }

  private stopped(why: string): void {
    this.worker?.terminate();
    this.worker = null;
    this.busy.hidden = true;
    this.state.textContent = "";
    showProblem(this.problem, { found: why || "the audit stopped", field: null, rule: null, accepted: null, around: null });
  }

  private hear(said: Say): void {
    switch (said.is) {
      case "reading":
        this.progress.value = said.of === 0 ? 1 : said.bytes / said.of;
        if (said.name) this.state.textContent = `Reading ${said.name}`;
        return;
      case "words":
        return save(new Blob([said.words], { type: "text/plain" }), "audit.txt");
      case "file":
        return save(new Blob([said.html], { type: "text/html" }), "audit.html");
      case "refused":
        this.busy.hidden = true;
        this.state.textContent = "";
        put(this.page_);
        this.tools.hidden = this.offers.hidden = true;
        return showProblem(this.problem, said.problem);
      case "audited":
        this.busy.hidden = true;
        return this.show(said);
    }
  }

  private show({ audited, milliseconds, files, left }: Extract<Say, { is: "audited" }>): void {
    const size = audited.bytes_read >= 1e6 ? `${(audited.bytes_read / 1e6).toFixed(1)} MB` : `${(audited.bytes_read / 1e3).toFixed(1)} kB`;
    const of = files === 1 ? "" : ` of ${files} files`;
    const rest = left > 0 ? `; ${left} more say the same or nothing of memory` : "";
    this.state.textContent = `${size}${of} read and judged in ${milliseconds.toFixed(0)} ms${rest}.`;
    say(this.state.textContent);
    setMarkup(this.page_, audited.html);
    for (const text of this.page_.querySelectorAll("pre")) text.tabIndex = 0;
    this.tools.hidden = false;
    searchable(this.page_, this.filter.value);
    this.link_();
    this.showOffers(audited);
  }

  /** A click on a shape opens it. */
  private link_(): void {
    const button = (text: string, label: string) => {
      const open = make("button", { type: "button", class: "text", title: "Show this layout" }, label);
      open.addEventListener("click", () => this.page.open({ tab: "layout", text }));
      return open;
    };
    const isLayout = (text: string) => /^\w+\[[^\]]*\]\{[^}]*\}$/.test(text);
    for (const code of this.page_.querySelectorAll("td code")) {
      const text = code.textContent ?? "";
      if (isLayout(text)) code.replaceChildren(button(text, text));
    }
    for (const code of this.page_.querySelectorAll("summary code")) {
      const text = code.textContent ?? "";
      if (isLayout(text)) code.closest("summary")?.after(make("p", {}, button(text, "Show this layout")));
    }
  }

  /** What if some arrays lay otherwise? */
  private showOffers(audited: Audited): void {
    if (audited.change === null && this.instead.size === 0) {
      this.offers.hidden = audited.offers.length === 0;
      put(
        this.offers,
        make("h2", { class: "lead" }, "What if?"),
        make("p", { class: "note" }, "By size only: the compiler may need another order."),
        make(
          "ul",
          {},
          ...audited.offers.map((offer) => {
            const box = make("input", { type: "checkbox" });
            box.addEventListener("change", () => {
              if (box.checked) this.instead.add(offer.instead);
              else this.instead.delete(offer.instead);
              this.ask({ do: "suppose", instead: [...this.instead] });
            });
            return make(
              "li",
              {},
              make("label", {}, box, " ", make("code", {}, offer.shape), " as ", make("code", {}, offer.instead), ` spares ${offer.saves} each`),
            );
          }),
        ),
        make("pre", { class: "change", tabindex: 0, hidden: true }),
      );
    }
    const change = this.offers.querySelector("pre");
    if (!change) return;
    change.hidden = audited.change === null;
    change.textContent = audited.change ?? "";
  }
}
