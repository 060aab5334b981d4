/** What a part of the page is to the rest. */

import type { Link } from "./answers";
import type { Engine } from "./engine";

export interface Page {
  readonly engine: Engine;
  /** When all but audits can be asked; before that a question may throw `Unready`, and is asked again then. */
  readonly ready: Promise<void>;
  /** What is on the page has changed, and so has its link. */
  changed(): void;
  /** Shows what a link says. */
  open(link: Link): void;
  /** The whole address of what is on the page. */
  address(): string;
}

export interface Tab {
  readonly name: Link["tab"];
  readonly title: string;
  /** What is shown; made when it is first asked for. */
  readonly panel: HTMLElement;
  /** Shows what a link says. */
  open(link: Link): void;
  /** What is shown, as a link. */
  link(): Link;
  /** The width may have changed, or the tab was hidden. */
  resized?(): void;
}
