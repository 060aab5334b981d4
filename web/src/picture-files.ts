/** A figure as a file: SVG as it is, PNG by way of a canvas. */

import { save } from "./dom";

/** How many pixels of a PNG are one of the figure. */
const SCALE = 2;

export function saveSvg(svg: string): void {
  if (svg) save(new Blob([svg], { type: "image/svg+xml" }), "layout.svg");
}

export async function savePng(svg: string): Promise<void> {
  if (!svg) return;
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
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
