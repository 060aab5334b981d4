/** Making elements. Texts become text, never markup. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | null | undefined>;

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value as EventListener);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  put(element, ...children);
  return element;
}

/** Puts children into an element, instead of those it has. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

/** A button that copies a text, and says that it did. */
export function copyButton(text: () => string, what: string, label = "Copy"): HTMLButtonElement {
  const button = make("button", { type: "button", class: "quiet", "aria-label": `${label} ${what}` }, label);
  button.addEventListener("click", () => void copy(text(), button, label));
  return button;
}

async function copy(text: string, button: HTMLButtonElement, label: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file may not have the clipboard; the old way still works there.
    const area = make("textarea", { readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => (button.textContent = label), 1200);
}

/** Says something to who listens instead of looking. */
export function say(text: string): void {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

/** Calls once things have been still for a moment. */
export function later(wait: number, act: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(act, wait);
  };
}

/** Calls once what is there now has been painted. */
export function afterPaint(act: () => void): () => void {
  let frame = 0;
  return () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => setTimeout(act));
  };
}

export function isStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Offers a file to be saved. */
export function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
