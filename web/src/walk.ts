/** Walking through memory: a slider over the places that are shown, and a button that goes on by itself. */

import { isStill, make } from "./dom";
import type { Figure } from "./figure";

/** The time between two steps, in milliseconds. */
const STEP = 260;

export class Walk {
  readonly element: HTMLElement;
  private readonly slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Place in memory" });
  private readonly button = make("button", { type: "button", class: "play" }, "Walk");
  private timer = 0;

  constructor(
    private readonly figure: Figure,
    private readonly select: (offset: string | null) => void,
  ) {
    this.element = make("div", { class: "walk" }, this.button, this.slider);
    this.slider.addEventListener("input", () => {
      this.stop();
      this.select(this.figure.offsets[Number(this.slider.value)] ?? null);
    });
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
  }

  /** There is a new figure to walk through. */
  reset(): void {
    this.stop();
    this.element.hidden = this.figure.offsets.length < 2;
    this.slider.max = String(Math.max(0, this.figure.offsets.length - 1));
    this.slider.value = "0";
  }

  /** Somebody points at this place; `words` is what is there. */
  follow(offset: string, words: string): void {
    const place = this.figure.offsets.indexOf(offset);
    if (place >= 0) this.slider.value = String(place);
    this.slider.setAttribute("aria-valuetext", words);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = "Walk";
  }

  private start(): void {
    const { offsets } = this.figure;
    let place = this.figure.at === null ? -1 : offsets.indexOf(this.figure.at);
    if (place + 1 >= offsets.length) place = -1;
    const step = () => {
      place += 1;
      if (place >= offsets.length) return this.stop();
      this.select(offsets[place] ?? null);
      this.timer = window.setTimeout(step, isStill() ? STEP * 3 : STEP);
    };
    this.button.textContent = "Stop";
    step();
  }
}
