/** What Rust answers: the same words and objects as the command. */

import type { Problem } from "./engine";

export interface Explained {
  text: string;
  notation: [name: string, title: string];
  lead: string;
  parts: { name: string; text: string; meaning: string }[];
  array: ArraySaid | null;
  notes: string[];
  leaves: { path: string; text: string; size: string | null }[];
}

export interface ArraySaid {
  dims: number[];
  letters: string[];
  elements: number;
  allocated: number;
  element_words: string;
  allocated_words: string;
  padding_words: string | null;
  share: number | null;
  causes: string[];
  filling: string | null;
  formula: string | null;
  strides: number[] | null;
  /** Of more than two dimensions: the index in those that are not shown. */
  slice: (number | null)[] | null;
  svg: string;
}

export interface Translation {
  name: string;
  notation: string;
  text: string | null;
  reason: string | null;
}

export interface Cost {
  shape: string;
  element_bytes: number;
  allocated_bytes: number;
}

export interface Beside {
  words: string;
  translated: { translations: Translation[] }[];
  suggested: {
    given: Cost;
    layouts: (Cost & { layout: string; saved_bytes: number; note: string })[];
    arrays: (Cost & { change: string; saved_bytes: number })[];
  } | null;
}

export interface Point {
  offset: string;
  index: number[] | null;
  words: string;
  worked: string | null;
}

export interface Verdict {
  answer: "yes" | "no" | "not decided";
  reason: string | null;
}

export interface Two {
  compared: {
    a: string;
    b: string;
    function: Verdict;
    buffer: Verdict;
    reshape: Verdict;
    transpose: Verdict;
    shared_run: number | null;
    moves: Moves | null;
  };
  words: string;
  plan: string | null;
  no_plan: string | null;
  svgs: [string, string];
}

export interface Moves {
  elements: number;
  bytes_read: number;
  bytes_written: number;
  nests: number;
  kind: string | null;
  runs: number;
  longest_run: number;
}

export interface Judged {
  path: string;
  descriptor: string;
  ok: boolean;
  errors: Problem[];
  broken: { rule: string; sentence: string; field: string; value: string; limit: string; legal: string | null }[];
  sum: [string, string][];
}

export interface Audited {
  offers: { shape: string; instead: string; saves: string }[];
  html: string;
  bytes_read: number;
}

/** What a link opens. */
export type Link =
  | { tab: "layout"; text: string; at?: string | null; slice?: (number | null)[]; axes?: string }
  | { tab: "two"; a: string; b: string }
  | { tab: "audit" }
  | { tab: "check"; text: string }
  | { tab: "learn"; step: number };
