// One uPlot in the page: drawn for the width that it has, in the colours of the day, and drawn anew
// when either changes or the page is printed. The cursor also moves by the arrow keys, and the
// legend speaks its values.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Chart } from "./charts";
import { DARK, LIGHT, type Palette } from "./palette";

const HEIGHT_PX = 260;
const NARROW_PX = 520;

interface Props {
  label: string;
  draw: (palette: Palette) => Chart;
}

function moveCursor(plot: uPlot, event: KeyboardEvent) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) {
    return;
  }
  event.preventDefault();
  const x = plot.data[0];
  const at = Math.min(Math.max((plot.cursor.idx ?? -1) + step, 0), x.length - 1);
  plot.setCursor({ left: plot.valToPos(x[at] ?? 0, "x"), top: plot.over.clientHeight / 2 });
}

export function Plot({ label, draw }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = holder.current;
    if (element === null) {
      return undefined;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let plot: uPlot | null = null;
    const redraw = (palette: Palette) => {
      plot?.destroy();
      const { options, data } = draw(palette);
      const width = element.clientWidth;
      const height = width < NARROW_PX ? HEIGHT_PX - 40 : HEIGHT_PX;
      plot = new uPlot({ ...options, width, height }, data, element);
      element.querySelector(".u-legend")?.setAttribute("aria-live", "polite");
    };
    const forScreen = () => redraw(dark.matches ? DARK : LIGHT);
    const forPaper = () => redraw(LIGHT);
    const onKey = (event: KeyboardEvent) => plot && moveCursor(plot, event);
    const resized = new ResizeObserver(() => {
      if (plot !== null && element.clientWidth > 0 && plot.width !== element.clientWidth) {
        forScreen();
      }
    });
    forScreen();
    resized.observe(element);
    dark.addEventListener("change", forScreen);
    addEventListener("beforeprint", forPaper);
    addEventListener("afterprint", forScreen);
    element.addEventListener("keydown", onKey);
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", forScreen);
      removeEventListener("beforeprint", forPaper);
      removeEventListener("afterprint", forScreen);
      element.removeEventListener("keydown", onKey);
      plot?.destroy();
    };
  }, [draw]);
  return <div class="plot" ref={holder} tabIndex={0} role="group" aria-label={label} />;
}
