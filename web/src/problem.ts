/** What is wrong, under the field it is about. */

import { make, put, say } from "./dom";
import type { Problem } from "./engine";

export function showProblem(element: HTMLElement, problem: Problem | null): void {
  element.hidden = !problem;
  if (!problem) return put(element);
  put(
    element,
    make("p", { class: "found" }, problem.field ? `${problem.field}: ` : "", problem.found),
    problem.around &&
      make(
        "p",
        { class: "place" },
        problem.around[0],
        make("mark", {}, problem.around[1] || "\u00a0"),
        problem.around[2],
      ),
    problem.rule && make("p", {}, make("b", {}, "Rule "), problem.rule),
    problem.accepted && make("p", {}, make("b", {}, "Instead "), problem.accepted),
  );
  say(`Error: ${problem.found}`);
}
