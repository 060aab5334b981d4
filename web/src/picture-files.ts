/** A figure as a file: SVG as it is, PNG by way of a canvas. */

import { save } from "./dom";

function source(figure: Element): { text: string; width: number; height: number } | null {
  const svg = figure.querySelector("svg");
  if (!svg) return null;
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.querySelector("polyline.trail")?.remove();
  for (const cell of copy.querySelectorAll(".lit")) cell.classList.remove("lit");
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

export function saveSvg(figure: Element): void {
  const picture = source(figure);
  if (picture) save(new Blob([picture.text], { type: "image/svg+xml" }), "layout.svg");
}

export async function savePng(figure: Element): Promise<void> {
  const picture = source(figure);
  if (!picture) return;
  const image = new Image();
  const address = URL.createObjectURL(new Blob([picture.text], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = picture.width * 2;
    canvas.height = picture.height * 2;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (blob) save(blob, "layout.png");
  } finally {
    URL.revokeObjectURL(address);
  }
}
