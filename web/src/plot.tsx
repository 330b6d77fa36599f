// One uPlot in the page: drawn for the width that it has, in the colours of the day, and drawn anew
// when either changes or the page is printed. What the mouse does there the keyboard does as well:
// arrows move the cursor, + and − zoom, and the legend, which speaks its values, has buttons.

import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Chart } from "./charts";
import { DARK, LIGHT, type Palette } from "./palette";
import { Printing } from "./printing";

const HEIGHT_PX = 260;
const NARROW_PX = 520;
/** Paper has this width whatever the screen had; page.css makes it as wide as the page. */
const PAPER_PX = 860;

interface Props {
  /** What the chart is called, and what is to be seen in it. */
  title: string;
  finding: string;
  draw: (palette: Palette) => Chart;
}

function moveCursor(plot: uPlot, step: number) {
  const x = plot.data[0];
  const at = Math.min(Math.max((plot.cursor.idx ?? -1) + step, 0), x.length - 1);
  plot.setCursor({ left: plot.valToPos(x[at] ?? 0, "x"), top: plot.over.clientHeight / 2 });
}

/** Shows half of what is seen, or twice as much, with the cursor where it is. */
function zoom(plot: uPlot, factor: number) {
  const width = plot.over.clientWidth;
  const left = plot.cursor.left ?? -1;
  const fixed = left < 0 ? width / 2 : left;
  const ends = [0, width].map((end) => plot.posToVal(fixed + (end - fixed) * factor, "x"));
  const [first, last] = [plot.data[0][0] ?? 0, plot.data[0].at(-1) ?? 1];
  const [min, max] = [Math.max(first, ends[0] ?? first), Math.min(last, ends[1] ?? last)];
  plot.setScale("x", { min, max });
}

function onKey(plot: uPlot, event: KeyboardEvent) {
  if (event.altKey || event.ctrlKey || event.metaKey) {
    return;
  }
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const factor = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
  if (step !== undefined) {
    moveCursor(plot, step);
  } else if (factor !== undefined) {
    zoom(plot, factor);
  } else {
    return;
  }
  event.preventDefault();
}

/** Makes buttons of what a click in the legend shows and hides. */
function giveLegendToKeyboard(plot: uPlot) {
  const legend = plot.root.querySelector(".u-legend");
  legend?.setAttribute("aria-live", "polite");
  const labels = [...(legend?.querySelectorAll<HTMLElement>(".u-series") ?? [])].map((row) =>
    row.querySelector<HTMLElement>(".u-label"),
  );
  const tell = () =>
    labels.forEach((label, at) => {
      if (at > 0) {
        label?.setAttribute("aria-pressed", String(plot.series[at]?.show ?? false));
      }
    });
  labels.slice(1).forEach((label) => {
    if (label === null) {
      return;
    }
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    label.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        label.click();
      }
    });
  });
  legend?.addEventListener("click", tell);
  tell();
}

export function Plot({ title, finding, draw }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  const isPrinted = useContext(Printing);
  // Before the browser goes on: what is printed is printed at once.
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) {
      return undefined;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let plot: uPlot | null = null;
    const redraw = (palette: Palette, width: number) => {
      plot?.destroy();
      const { options, data } = draw(palette);
      const height = width < NARROW_PX ? HEIGHT_PX - 40 : HEIGHT_PX;
      plot = new uPlot({ ...options, width, height }, data, element);
      plot.ctx.canvas.setAttribute("role", "img");
      plot.ctx.canvas.setAttribute("aria-label", `${title} ${finding}`);
      giveLegendToKeyboard(plot);
    };
    if (isPrinted) {
      redraw(LIGHT, PAPER_PX);
      return () => plot?.destroy();
    }
    // What is folded has no width, and is drawn when it is opened.
    const forScreen = () => {
      if (element.clientWidth > 0) {
        redraw(dark.matches ? DARK : LIGHT, element.clientWidth);
      }
    };
    const listen = (event: KeyboardEvent) => plot && onKey(plot, event);
    const resized = new ResizeObserver(() => {
      if (plot?.width !== element.clientWidth) {
        forScreen();
      }
    });
    forScreen();
    resized.observe(element);
    dark.addEventListener("change", forScreen);
    element.addEventListener("keydown", listen);
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", forScreen);
      element.removeEventListener("keydown", listen);
      plot?.destroy();
    };
  }, [draw, isPrinted, title, finding]);
  const label = `${title} Left and right read values, plus and minus zoom.`;
  return <div class="plot" ref={holder} tabIndex={0} role="group" aria-label={label} />;
}
