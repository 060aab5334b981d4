/** The audit of a dump, a log or a message: where the memory goes. */

import sample from "../../samples/out_of_memory.txt";
import code from "worker:./audit-worker.ts";
import { enliven } from "../../crates/tilework-explain/src/audited/audit.js";
import type { Audited, Link } from "./answers";
import type { Ask, Say } from "./audit-worker";
import { later, make, put, save, say } from "./dom";
import { filesOf } from "./dropped";
import { showProblem } from "./problem";
import { part } from "./parts";
import type { Tab } from "./tab";
import { setMarkup, startWorker } from "./trusted";

export function auditTab(): Tab {
  return new AuditTab();
}

class AuditTab implements Tab {
  readonly name = "audit";
  readonly title = "Memory audit";
  readonly panel: HTMLElement;

  private worker: Worker | null = null;
  private started: Promise<void> = Promise.resolve();
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
  /** Whether what is read next is compared with what was read. */
  private compares = false;
  /** Whether something was read since the smaller layouts were listed. */
  private isNew = false;
  private readonly comparing = make("p", { class: "comparing", hidden: true });
  private readonly tools = make("div", { class: "tools", hidden: true });
  private readonly offers = make("div", { class: "offers", hidden: true });
  private readonly page_ = make("div", { class: "audited" });
  private readonly readLater = later(250, () => this.readPasted());

  constructor() {
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
      this.comparing,
    );
    for (const input of [this.files, this.folder]) {
      input.tabIndex = -1;
      input.setAttribute("aria-hidden", "true");
    }
    this.panel = make("section", { class: "audit" }, drop, this.busy, this.state, this.problem, this.tools, this.offers, this.page_);
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
    const words = make("button", { type: "button", class: "quiet" }, "Save as text");
    words.addEventListener("click", () => this.ask({ do: "words" }));
    const whole = make("button", { type: "button", class: "quiet" }, "Save as a page");
    whole.addEventListener("click", () => this.ask({ do: "file" }));
    const compare = make("button", { type: "button", class: "quiet" }, "Compare with another…");
    compare.addEventListener("click", () => {
      this.compare(true);
      drop.scrollIntoView({ block: "nearest" });
      drop.querySelector("button")?.focus();
    });
    const never = make("button", { type: "button", class: "quiet" }, "Do not compare");
    never.addEventListener("click", () => this.compare(false));
    put(this.comparing, "What you drop, choose or paste now is compared with what is below. ", never);
    put(this.tools, compare, words, whole);
    this.page_.addEventListener("click", (event) => this.suppose(event));
  }

  /** From now on, or no more, what is read is compared with what was read before. */
  private compare(isWanted: boolean): void {
    this.compares = isWanted;
    this.comparing.hidden = !isWanted;
    if (isWanted) this.paste.value = "";
  }

  open(): void {
    // By the time a file is dropped, what reads it is there.
    part("audit").catch(() => {});
  }

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
    this.isNew = true;
    showProblem(this.problem, null);
    this.busy.hidden = false;
    this.state.textContent = "Reading…";
    this.ask({ do: "read", files, compare: this.compares });
    this.compare(false);
  }

  private ask(asked: Ask): void {
    if (!this.worker) {
      this.worker = startWorker(code);
      this.worker.onmessage = (event: MessageEvent<Say>) => this.hear(event.data);
      this.worker.onerror = (event) => this.stopped(event.message);
      this.started = this.startWorker(this.worker);
    }
    const { worker } = this;
    this.started.then(
      () => worker.postMessage(asked),
      (why: unknown) => this.stopped(why instanceof Error ? why.message : String(why)),
    );
  }

  /** Hands the library over. What an audit takes is loaded when the first one is asked for. */
  private async startWorker(worker: Worker): Promise<void> {
    const parts = await Promise.all([part("first"), part("rest"), part("audit")]);
    worker.postMessage({ do: "start", parts } satisfies Ask);
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
    const sought = this.page_.querySelector<HTMLInputElement>("input[type=search]")?.value;
    setMarkup(this.page_, audited.html);
    for (const part of this.page_.querySelectorAll(".tilework-audit")) enliven(part, sought);
    this.tools.hidden = false;
    this.showOffers(audited);
  }

  /** What if some arrays lay otherwise? Those that could are ticked here, or beside what is said of their shape. */
  private showOffers(audited: Audited): void {
    if (this.isNew) {
      this.isNew = false;
      this.offers.hidden = audited.offers.length === 0;
      const offer = (one: Audited["offers"][number]) => {
        const box = make("input", { type: "checkbox", "data-instead": one.instead });
        box.addEventListener("change", () => this.tick(one.instead, box.checked));
        return make(
          "li",
          {},
          make("label", {}, box, " ", make("code", {}, one.shape), " as ", make("code", {}, one.instead), ` spares ${one.saves} each`),
        );
      };
      put(
        this.offers,
        make("h2", { class: "lead" }, "What if?"),
        make("p", { class: "note" }, "By size only: the compiler may need another order."),
        make("ul", {}, ...audited.offers.map(offer)),
      );
    }
    for (const place of this.page_.querySelectorAll<HTMLElement>("p[data-instead]")) {
      if (!this.box(place.dataset["instead"])) continue;
      place.append(" ", make("button", { type: "button", class: "quiet suppose" }, "What if it lay so?"));
    }
    const change = this.page_.querySelector("pre.change");
    if (change) say(change.textContent ?? "");
  }

  private box(instead: string | undefined): HTMLInputElement | undefined {
    const boxes = this.offers.querySelectorAll<HTMLInputElement>("input[data-instead]");
    return [...boxes].find((box) => box.dataset["instead"] === instead);
  }

  private tick(instead: string, isWanted: boolean): void {
    if (isWanted) this.instead.add(instead);
    else this.instead.delete(instead);
    this.ask({ do: "suppose", instead: [...this.instead] });
  }

  /** A click on the question beside a smaller layout. */
  private suppose(event: Event): void {
    const button = event.target instanceof Element ? event.target.closest("button.suppose") : null;
    const box = this.box(button?.closest<HTMLElement>("p[data-instead]")?.dataset["instead"]);
    if (!box || box.checked) return;
    box.checked = true;
    this.tick(box.dataset["instead"] ?? "", true);
    this.offers.scrollIntoView({ block: "nearest" });
    box.focus({ preventScroll: true });
  }
}
