// Colours of the canvases (Okabe and Ito's, lightened for a dark page); those of the tables stand
// in page.css. Base is blue and test is orange, everywhere.

export interface Palette {
  ink: string;
  faint: string;
  grid: string;
  base: string;
  test: string;
  band: string;
}

export const LIGHT: Palette = {
  ink: "#1c1e21",
  faint: "#5b6168",
  grid: "#0000001a",
  base: "#0072b2",
  test: "#d55e00",
  band: "#00000014",
};

export const DARK: Palette = {
  ink: "#e8e6e1",
  faint: "#a3a8ae",
  grid: "#ffffff1f",
  base: "#56b4e9",
  test: "#f0a030",
  band: "#ffffff1c",
};

/** A colour of the palette with some transparency. */
export function sheer(colour: string, alpha: string): string {
  return colour + alpha;
}
