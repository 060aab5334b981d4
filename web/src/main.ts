/** The page: its parts, and which of them the address asks for. */

import type { Link } from "./answers";
import { auditTab } from "./audit";
import { checkTab } from "./check";
import { later, make, put } from "./dom";
import { Engine, Unready } from "./engine";
import { layoutTab } from "./layout";
import { learnTab } from "./learn";
import { part } from "./parts";
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
  /** What was asked for while a part was missing that it takes. */
  private wanted: Link | null = null;
  /** Whether the address could not be read without it. */
  private isUnread = false;

  constructor(
    readonly engine: Engine,
    readonly ready: Promise<void>,
  ) {
    const missed = (event: Event, why: unknown) => {
      if (!(why instanceof Unready)) return;
      event.preventDefault();
      this.wanted ??= this.current?.link() ?? FIRST;
    };
    addEventListener("error", (event) => missed(event, event.error));
    addEventListener("unhandledrejection", (event) => missed(event, event.reason));
    void ready.then(() => {
      if (this.isUnread) this.follow();
      else if (this.wanted) this.go(this.wanted);
    });
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

  /** Whether something is asked for that takes what is not there yet. */
  get lacks(): boolean {
    return this.isUnread || this.wanted !== null;
  }

  changed(): void {
    this.write();
  }

  open(link: Link): void {
    this.go(link);
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
      } catch (error) {
        if (error instanceof Unready) {
          this.isUnread = true;
          return;
        }
        // A link that says nothing to us is a page that begins at the beginning.
      }
    }
    try {
      this.go(link);
    } catch (error) {
      if (!(error instanceof Unready)) throw error;
    }
  }

  /** Shows what a link says, now or as soon as it can be asked. */
  private go(link: Link): void {
    this.wanted = link;
    this.show(link.tab).open(link);
    this.wanted = null;
  }

  private choose(name: Link["tab"]): void {
    const tab = this.tabs.get(name);
    if (tab) this.show(name);
    else this.go(first(name));
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
      const { slice = [], ...link } = { slice: undefined, ...this.current.link() };
      fragment = this.engine.ask<string>({ ask: "link", ...link, look: { slice } });
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
  const engine = await Engine.of(await part("first"));
  // The rest waits for the first picture, or for nothing if there is none without it.
  let painted = (): void => {};
  const ready = new Promise<void>((done) => (painted = done))
    .then(() => part("rest"))
    .then((rest) => engine.add(rest));
  const whole = new Whole(engine, ready);
  performance.mark("tilework-shown");
  if (whole.lacks) painted();
  else requestAnimationFrame(() => setTimeout(painted));
  await ready;
}

void start().catch((error: unknown) => {
  put(
    document.getElementById("main") as HTMLElement,
    make("p", { class: "wait", role: "alert" }, `This browser cannot run the page: ${String(error)}`),
  );
});
