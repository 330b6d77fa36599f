// Adds the charts to a page that is complete without them.

import { render } from "preact";
import { CellFigures } from "./figures";
import "./page.css";
import { Printing } from "./printing";
import type { Data } from "./view";

/** With more cells than this, only the first one starts unfolded. */
const OPEN_CELLS_MAX = 3;

function start() {
  const block = document.getElementById("data");
  const place = document.getElementById("charts");
  if (block === null || place === null) {
    return;
  }
  const { cells } = JSON.parse(block.textContent ?? "") as Data;
  place.replaceChildren();
  const draw = (isPrinted: boolean) =>
    render(
      <Printing.Provider value={isPrinted}>
        {cells.map((cell, at) => (
          <CellFigures cell={cell} isOpenAtFirst={cells.length <= OPEN_CELLS_MAX || at === 0} />
        ))}
      </Printing.Provider>,
      place,
    );
  draw(false);
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
}

start();
