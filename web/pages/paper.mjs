// What a page has to be on paper: complete, within its width, light, and without headings that
// stand alone at the foot of a page.
//
//   the page with the style of paper, as wide as A4 without margins    boxes, folds, colours
//   the PDF that the browser prints                                    words and where they stand

import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import * as inside from "./inside.mjs";
import * as seen from "./seen.mjs";

/** Pixels of the width of A4, and the margins that page.css asks for. */
const PAPER = { width: Math.floor(((210 - 2 * 11) / 25.4) * 96), height: 1030 };
const run = promisify(execFile);

/** Inside: what stands out of the paper or is cut off in a box, and what is still folded. */
function paperFaults() {
  const faults = [];
  const { clientWidth } = document.documentElement;
  const text = (one) => `<${one.localName}> ${one.textContent.trim().slice(0, 60)}`;
  for (const one of document.querySelectorAll("body *")) {
    if (!one.checkVisibility() || one.closest(".unseen, #flame button") !== null) {
      continue;
    }
    const { right, width } = one.getBoundingClientRect();
    const { overflowX, overflowY } = getComputedStyle(one);
    const isCut =
      (overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1) ||
      (overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1);
    const isOut = width > 0 && right > clientWidth + 1;
    if ((isOut || isCut) && one.closest("svg, .uplot") !== one) {
      faults.push(`${isOut ? "beyond the edge" : "cut off"}: ${text(one)}`);
    } else if (isOut) {
      faults.push(`beyond the edge: a drawing, ${right.toFixed(0)} px of ${clientWidth}`);
    }
  }
  for (const fold of document.querySelectorAll("details")) {
    const contents = [...fold.children].filter((one) => one.localName !== "summary");
    const isSeen = (one) => one.checkVisibility({ contentVisibilityAuto: true });
    if (contents.length === 0 ? !fold.open : !contents.some(isSeen)) {
      faults.push(`folded: ${text(fold.querySelector("summary"))}`);
    }
  }
  return faults.slice(0, 5);
}

/** Inside: headings that may stand alone, and rows and charts that may be parted. */
function breakFaults() {
  const faults = [];
  const look = (selector, property, what) => {
    const all = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
    if (all.some((one) => getComputedStyle(one)[property] !== "avoid")) {
      faults.push(`${what}: ${selector}`);
    }
  };
  look("h1, h2, h3, figcaption, summary, tr.group", "breakAfter", "alone at the foot may be");
  look("tr, .plot, svg.chart, svg.strip", "breakInside", "parted by the end of a page may be");
  return faults;
}

/** Inside: letters that are light, of which one sees nothing on paper. */
function lightFaults() {
  const isLight = (colour) => {
    const parts = colour.startsWith("#") ? colour.match(/[0-9a-f]{2}/g) : colour.match(/\d+/g);
    const [red, green, blue] = parts.map((part) => parseInt(part, colour[0] === "#" ? 16 : 10));
    return red + green + blue > 3 * 150;
  };
  const faults = isLight(getComputedStyle(document.body).color) ? ["letters are light"] : [];
  for (const canvas of document.querySelectorAll("canvas")) {
    if ((canvas.texts ?? []).some(({ colour }) => isLight(colour))) {
      faults.push("letters of a chart are light");
    }
  }
  return faults;
}

/** Inside: headings, and the last cell of each row of each table, in words. */
function expected() {
  const words = (one) => one.textContent.trim().split(/\s+/).filter((word) => word !== "");
  const isSeen = (one) => one.checkVisibility() && one.closest(".unseen, .u-legend") === null;
  const of = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const isWritten = (cell) =>
    cell !== undefined && isSeen(cell) && cell.querySelector(".unseen") === null;
  const last = of("tr").map((row) => row.cells[row.cells.length - 1]);
  return {
    headings: of("h1, h2, h3, figcaption, summary, tr.group").map((one) => words(one).join("")),
    cells: last.filter(isWritten).flatMap(words),
  };
}

/** Whether the words of a PDF can be had here: by a program of Debian's poppler-utils. */
export async function canReadPdf() {
  return run("pdftotext", ["-v"]).then(() => true, ({ code }) => code !== "ENOENT");
}

/** The pages of a PDF as words with their places. */
async function pdfPages(path) {
  const { stdout: xml } = await run("pdftotext", ["-bbox", path, "-"], { maxBuffer: 1 << 28 });
  const plain = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
  return xml.split("<page ").slice(1).map((page) => {
    const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(page).map(Number);
    const word = /xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">([^<]*)</g;
    const words = [...page.matchAll(word)].map(([, left, top, right, bottom, text]) => ({
      ...{ left: Number(left), top: Number(top), right: Number(right), bottom: Number(bottom) },
      text: text.replace(/&(?:amp|lt|gt|quot|#39);/g, (name) => plain[name]),
    }));
    return { width, height, words };
  });
}

/** The text of the last line of a page, without blanks. */
function lastLine({ words }) {
  const lowest = words.reduce((one, other) => (other.bottom > one.bottom ? other : one));
  const line = words.filter(({ top, bottom }) => (top + bottom) / 2 > lowest.top);
  return line.map(({ text }) => text).join("");
}

/** Letters and digits alone: signs may be drawn by other fonts, and are read as something else. */
const essence = (text) => text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");

/** What is wrong with what was printed. */
function printedFaults(pages, { headings, cells }) {
  const faults = [];
  pages.forEach((page, at) => {
    const out = page.words.find(({ left, right }) => left < 0 || right > page.width);
    if (out !== undefined) {
      faults.push(`beyond the edge: "${out.text}" on page ${at + 1}`);
    }
    const last = essence(page.words.length === 0 ? "" : lastLine(page));
    const isAlone = (heading) => last.length > 2 && essence(heading).endsWith(last);
    if (at + 1 < pages.length && headings.some(isAlone)) {
      faults.push(`a heading is alone at the foot of page ${at + 1}: "${last}"`);
    }
  });
  // Cells are several lines, between which other cells stand: each word is looked for by itself, by
  // how it begins, for a long one is broken.
  const printed = essence(pages.flatMap(({ words }) => words.map(({ text }) => text)).join(""));
  const missing = cells.find((word) => !printed.includes(essence(word).slice(0, 6)));
  if (missing !== undefined) {
    faults.push(`the last column lost "${missing.slice(0, 40)}"`);
  }
  return faults;
}

/** Everything that is wrong with the page on paper; its PDF stays at `pdf` where that is given. */
export async function onPaper(tab, path, pdf) {
  await tab.setViewport(PAPER);
  await tab.emulateMediaType("print");
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await tab.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  const faults = [
    ...(await tab.evaluate(inside.overflowFaults)),
    ...(await tab.evaluate(paperFaults)),
    ...(await tab.evaluate(breakFaults)),
    ...(await tab.evaluate(lightFaults)),
    ...(await tab.evaluate(seen.contrastFaults)),
    ...(await tab.evaluate(seen.labelFaults)),
  ];
  const asked = await tab.evaluate(expected);
  await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  await tab.emulateMediaType(null);
  const place = pdf ?? `${path}.pdf`;
  await writeFile(place, await tab.pdf({ format: "A4", preferCSSPageSize: true }));
  const pages = (await canReadPdf()) ? await pdfPages(place) : null;
  if (pdf === undefined) {
    await rm(place);
  }
  faults.push(...(pages === null ? [] : printedFaults(pages, asked)));
  return faults.map((fault) => `paper: ${fault}`);
}
