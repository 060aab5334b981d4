/** The page: its parts, and which of them the address asks for. */

import type { Link } from "./answers";
import { auditTab } from "./audit";
import { checkTab } from "./check";
import { later, make, put } from "./dom";
import { readModule, startEngine, type Engine } from "./engine";
import { layoutTab } from "./layout";
import { learnTab } from "./learn";
import type { Page, Tab } from "./tab";
import { twoTab } from "./two";

/** What somebody sees who brings nothing. */
const FIRST: Link = { tab: "layout", text: "bf16[4,8]{1,0:T(2,4)(2,1)}" };

const MAKERS: { name: Link["tab"]; title: string; make: (page: Page) => Tab }[] = [
  { name: "layout", title: "Layout", make: layoutTab },
  { name: "two", title: "Two layouts", make: twoTab },
  { name: "audit", title: "Memory audit", make: auditTab },
  { name: "check", title: "DirectML check", make: checkTab },
  { name: "learn", title: "Learn", make: learnTab },
];

class Whole implements Page {
  private readonly tabs = new Map<string, Tab>();
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private current: Tab | null = null;
  private readonly main = document.getElementById("main") as HTMLElement;
  private readonly write = later(150, () => this.writeAddress());

  constructor(
    readonly engine: Engine,
    readonly module: WebAssembly.Module,
  ) {
    const list = document.getElementById("tabs") as HTMLElement;
    for (const { name, title } of MAKERS) {
      const button = make(
        "button",
        { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-selected": "false" },
        title,
      );
      button.addEventListener("click", () => this.choose(name));
      this.buttons.set(name, button);
    }
    put(list, ...this.buttons.values());
    list.addEventListener("keydown", (event) => this.walk(event));
    put(this.main);
    addEventListener("hashchange", () => this.follow());
    addEventListener("resize", later(150, () => this.current?.resized?.()));
    this.follow();
  }

  changed(): void {
    this.write();
  }

  open(link: Link): void {
    this.show(link.tab).open(link);
    this.writeAddress(true);
    this.main.scrollIntoView({ block: "nearest" });
  }

  address(): string {
    this.writeAddress();
    return location.href;
  }

  /** Shows what the address says. */
  private follow(): void {
    let link = FIRST;
    if (location.hash.length > 1) {
      try {
        link = this.engine.ask<Link>({ ask: "open", fragment: location.hash });
      } catch {
        // A link that says nothing to us is a page that begins at the beginning.
      }
    }
    this.show(link.tab).open(link);
  }

  private choose(name: Link["tab"]): void {
    const tab = this.tabs.get(name);
    if (tab) this.show(name);
    else this.show(name).open(first(name));
    this.writeAddress(true);
  }

  private show(name: Link["tab"]): Tab {
    let tab = this.tabs.get(name);
    if (!tab) {
      const maker = MAKERS.find((maker) => maker.name === name) ?? MAKERS[0]!;
      tab = maker.make(this);
      tab.panel.id = `panel-${name}`;
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("aria-labelledby", `tab-${name}`);
      this.tabs.set(name, tab);
      this.main.append(tab.panel);
    }
    for (const [other, button] of this.buttons) {
      button.setAttribute("aria-selected", String(other === name));
      button.tabIndex = other === name ? 0 : -1;
    }
    // On a phone not all of them are seen at once.
    if (this.current) this.buttons.get(name)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    for (const [other, { panel }] of this.tabs) panel.hidden = other !== name;
    if (this.current !== tab) {
      this.current = tab;
      tab.resized?.();
    }
    return tab;
  }

  private writeAddress(isNew = false): void {
    if (!this.current) return;
    let fragment: string;
    try {
      const link = this.current.link();
      fragment = this.engine.ask<string>({ ask: "link", ...link });
    } catch {
      fragment = "#"; // Too long for a link.
    }
    if (fragment === location.hash) return;
    if (isNew) history.pushState(null, "", fragment);
    else history.replaceState(null, "", fragment);
  }

  private walk(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !this.current) return;
    const names = MAKERS.map((maker) => maker.name);
    const next = names[(names.indexOf(this.current.name) + step + names.length) % names.length]!;
    this.choose(next);
    this.buttons.get(next)?.focus();
  }
}

/** What a part shows that nobody has been to. */
function first(name: Link["tab"]): Link {
  switch (name) {
    case "two":
      return { tab: "two", a: "f32[4,6]{1,0:T(2,3)}", b: "{0,1}" };
    case "audit":
      return { tab: "audit" };
    case "check":
      return { tab: "check", text: "FLOAT16 [5,55] strides [9,3] total 123 alignment 5" };
    case "learn":
      return { tab: "learn", step: 1 };
    default:
      return FIRST;
  }
}

async function start(): Promise<void> {
  const module = await readModule();
  new Whole(await startEngine(module), module);
  performance.mark("tilework-shown");
}

void start().catch((error: unknown) => {
  put(
    document.getElementById("main") as HTMLElement,
    make("p", { class: "wait", role: "alert" }, `This browser cannot run the page: ${String(error)}`),
  );
});
