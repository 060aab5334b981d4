/**
 * The one door for markup and for scripts' addresses. The page's policy refuses any other, so a foreign text cannot become
 * markup by accident: what comes through here was made, and escaped, by Rust, or is this page's own worker.
 */
interface Policy {
  createHTML(text: string): string;
  createScriptURL(text: string): string;
}
const factory = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }).trustedTypes;
const rules: Policy = { createHTML: (text) => text, createScriptURL: (text) => text };
const policy = factory?.createPolicy("tilework", rules) ?? rules;

/** Puts markup that Rust made into an element. */
export function setMarkup(element: Element, markup: string): void {
  element.innerHTML = policy.createHTML(markup);
}

/** A worker of this page's own code. */
export function startWorker(code: string): Worker {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(policy.createScriptURL(address));
  URL.revokeObjectURL(address);
  return worker;
}
