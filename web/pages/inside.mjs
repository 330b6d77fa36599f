// What is asked inside of a page. Each function is sent there as text, so that it uses nothing of
// this file; what it gives is a list of faults, in words.

/** Opens what is folded, so that all of it can be seen. */
export function unfold() {
  for (const one of document.querySelectorAll("details")) {
    one.open = true;
  }
}

/** Headings without what they promise, and tables without rows. */
export function tableFaults(promised) {
  const faults = [];
  const headings = [...document.querySelectorAll("h1, h2, h3")];
  const level = (heading) => Number(heading.tagName.slice(1));
  const next = (at) => headings.slice(at + 1).find((one) => level(one) <= level(headings[at]));
  const isBefore = (one, other) =>
    other === undefined ||
    (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  /** What stands up to the next heading, or within what the heading unfolds. */
  const below = (selector, at) => {
    const fold = headings[at].closest("summary")?.parentElement;
    return [...(fold ?? document).querySelectorAll(selector)].filter(
      (one) => isBefore(headings[at], one) && (fold !== undefined || isBefore(one, next(at))),
    );
  };
  const rows = (table) => [...table.rows].filter((row) => row.querySelector("td") !== null);
  headings.forEach((heading, at) => {
    const contents = below("p, li, dt, td, pre, svg, canvas, button", at);
    if (level(heading) > 1 && contents.length === 0) {
      faults.push(`"${heading.textContent}" has nothing below it`);
    }
  });
  for (const start of promised) {
    const at = headings.findIndex((one) => one.textContent.trim().startsWith(start));
    const table = at < 0 ? undefined : below("table", at)[0];
    if (table === undefined) {
      faults.push(`there is no ${at < 0 ? "heading" : "table below"} "${start}"`);
    }
  }
  for (const table of document.querySelectorAll("table")) {
    const isLegend = table.classList.contains("u-legend");
    if (!isLegend && rows(table).length === 0) {
      const heading = headings.findLast((one) => isBefore(one, table));
      faults.push(`a table below "${heading?.textContent}" has no rows`);
    }
  }
  return faults;
}

/** Drawings without size or marks, or fewer of them than the script has to make. */
export function drawingFaults(canvases, frames) {
  const faults = [];
  const name = (one) => one.getAttribute("aria-label") ?? one.parentElement?.className ?? "";
  const hasArea = (box) => box.width > 0 && box.height > 0;
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.checkVisibility()) {
      continue;
    }
    const marks = [...svg.querySelectorAll("path, circle, rect, line, polygon, polyline")];
    const seen = marks.filter((mark) => {
      const { width, height } = mark.getBBox();
      return width > 0 || height > 0;
    });
    if (!hasArea(svg.getBoundingClientRect()) || seen.length === 0) {
      faults.push(`a drawing "${name(svg)}" is empty`);
    }
  }
  const drawn = [...document.querySelectorAll("canvas")].filter((one) => one.checkVisibility());
  for (const canvas of drawn) {
    const { width, height } = canvas;
    const isLarge = hasArea(canvas.getBoundingClientRect()) && width > 0 && height > 0;
    const pixels = isLarge ? canvas.getContext("2d").getImageData(0, 0, width, height).data : [];
    const colours = new Set();
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at + 3] > 128) {
        colours.add((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
      }
    }
    // Axes have one colour; what is drawn between them has another.
    if (colours.size < 2) {
      faults.push(`a canvas in "${canvas.closest("figure")?.textContent.slice(0, 60)}" is empty`);
    }
  }
  const bars = document.querySelectorAll("#flame button").length;
  if (drawn.length < canvases) {
    faults.push(`the script drew ${drawn.length} charts of ${canvases}`);
  }
  if (bars < frames) {
    faults.push(`the script drew ${bars} frames of ${frames}`);
  }
  return faults;
}

/** What stands out of the page to the right, or cannot be reached by scrolling a box. */
export function overflowFaults() {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) {
    return [];
  }
  const isLoose = (one) => {
    for (let box = one.parentElement; box !== null; box = box.parentElement) {
      if (getComputedStyle(box).overflowX !== "visible") {
        return false;
      }
    }
    return true;
  };
  const wide = [...document.querySelectorAll("body *")].filter(
    (one) => one.scrollWidth > clientWidth || one.getBoundingClientRect().right > clientWidth + 1,
  );
  const worst = wide.filter(isLoose).findLast(() => true);
  const what = worst ? `<${worst.localName}> ${worst.textContent.trim().slice(0, 60)}` : "?";
  return [`the page is ${scrollWidth} px wide where ${clientWidth} are seen: ${what}`];
}

/** Marks every control that can be seen with a number; how many there are. */
export function numberedControls() {
  const selector = "a[href], button:enabled, summary, input, select, textarea, [tabindex]";
  document.querySelectorAll("[data-control]").forEach((one) => one.removeAttribute("data-control"));
  const controls = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  controls.forEach((one, at) => one.setAttribute("data-control", at));
  return controls.length;
}

/** The number of the control that has the focus, and whether one sees that it has. */
export function focused() {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  return { number: one.getAttribute("data-control"), isSeen };
}

/** What a control is, in words, and how it is tried. */
export function described(number) {
  const one = document.querySelector(`[data-control="${number}"]`);
  const kind = one.localName;
  const text = (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 40);
  return { kind, text: `<${kind}> ${text}`, link: one.getAttribute("href") };
}

/** The first link of the page to a part of it that is not seen until the link is followed. */
export function firstHiddenTarget() {
  const isHidden = (hash) => document.getElementById(hash.slice(1))?.checkVisibility() === false;
  const links = [...document.querySelectorAll('a[href^="#"]')];
  return links.map((one) => one.getAttribute("href")).find(isHidden) ?? null;
}
