// What a page has to be, in a browser: complete, drawn, narrow enough, usable by keyboard, without
// barriers that axe-core finds, and silent.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import * as inside from "./inside.mjs";
import { onPaper } from "./paper.mjs";
import * as seen from "./seen.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The success criteria of WCAG 2.1 at levels A and AA, as axe-core calls them. */
const CRITERIA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
const HEIGHT_PX = 900;

/** How a page is looked at; the keyboard does not depend on colours, nor labels of drawings. */
const WIDTHS = [480, 640, 800, 1000, 1600];
const VIEWS = [
  {
    ...{ width: 1280, widths: WIDTHS, scheme: "light" },
    ...{ isScripted: true, keyboard: true, barriers: true },
  },
  { width: 1280, scheme: "dark", isScripted: true, keyboard: false, barriers: true },
  { width: 390, scheme: "light", isScripted: true, keyboard: false, barriers: true },
  { width: 390, scheme: "dark", isScripted: true, keyboard: true, barriers: true },
  { width: 390, scheme: "light", isScripted: false, keyboard: false, barriers: false },
  { width: 1280, scheme: "dark", isScripted: true, isPaper: true },
];

const named = (check, faults) => faults.map((fault) => `${check}: ${fault}`);

/** A tab with the page in it, and what it said and asked for until it is closed. */
async function opened(browser, path, { width, scheme, isScripted }) {
  const tab = await browser.newPage();
  // The browser has its own limit for a page that hangs.
  tab.setDefaultTimeout(0);
  const faults = [];
  const address = pathToFileURL(path).href;
  tab.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) {
      faults.push(`console: ${message.text()}`);
    }
  });
  tab.on("pageerror", (error) => faults.push(`console: ${error.message}`));
  await tab.setRequestInterception(true);
  tab.on("request", (request) => {
    const url = request.url().split("#")[0];
    if (url === address) {
      request.continue();
    } else {
      faults.push(`request: ${url}`);
      request.abort();
    }
  });
  await tab.evaluateOnNewDocument(seen.noteDrawnTexts);
  await tab.setViewport({ width, height: HEIGHT_PX });
  // Several tabs are looked at at once, and each as if it were in front.
  await tab.emulateFocusedPage(true);
  await tab.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    // A page that is still scrolling is not where it will be.
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await tab.setJavaScriptEnabled(isScripted);
  await tab.goto(address, { waitUntil: "load" });
  return { tab, faults };
}

/** Lets the page draw what was asked for. */
async function settled(tab) {
  await tab.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

async function axeFaults(tab, { scheme, barriers }) {
  if (!barriers) {
    return [];
  }
  await tab.evaluate(axe);
  // What is dark differs in nothing but colours.
  const isLight = scheme === "light";
  const [type, values] = isLight ? ["tag", CRITERIA] : ["rule", ["color-contrast"]];
  const options = { runOnly: { type, values }, resultTypes: ["violations"] };
  const violations = await tab.evaluate(async (asked) => {
    const { violations: found } = await globalThis.axe.run(asked);
    return found.map(({ id, help, nodes }) => {
      const { html, any } = nodes[0];
      const first = `${html.slice(0, 160)} ${any[0]?.message ?? ""}`;
      return `${id} (${help}), ${nodes.length} times: ${first}`;
    });
  }, options);
  return named("axe", violations);
}

/** Elements that answer to a click and to no key. */
async function mouseOnlyFaults(tab) {
  const session = await tab.createCDPSession();
  const expression = `[...document.querySelectorAll("body *")]
    .filter((one) => getEventListeners(one).click !== undefined || one.onclick !== null)
    .filter((one) => one.closest("a[href], button, summary, input, [tabindex], .uplot") === null)
    .map((one) => one.outerHTML.slice(0, 80))`;
  const asked = { expression, includeCommandLineAPI: true, returnByValue: true };
  const { result } = await session.send("Runtime.evaluate", asked);
  await session.detach();
  return result.value.map((html) => `keyboard: only a mouse can click ${html}`);
}

/** Tab has to come to every control, and to show where it is. */
async function tabFaults(tab) {
  const count = await tab.evaluate(inside.numberedControls);
  const reached = new Set();
  const faults = [];
  await tab.evaluate(() => document.activeElement?.blur());
  // Boxes that scroll are stops as well.
  for (let at = 0; at < 2 * count + 20 && reached.size < count; at++) {
    await tab.keyboard.press("Tab");
    const { number, isSeen } = await tab.evaluate(inside.focused);
    if (number !== null && !reached.has(number)) {
      reached.add(number);
      if (!isSeen) {
        const { text } = await tab.evaluate(inside.described, number);
        faults.push(`keyboard: one does not see that ${text} has the focus`);
      }
    }
  }
  for (let number = 0; number < count; number++) {
    if (!reached.has(String(number))) {
      const { text } = await tab.evaluate(inside.described, number);
      faults.push(`keyboard: Tab does not come to ${text}`);
    }
  }
  return { count, faults };
}

/** What a key does with the control that has the focus; a fault where it does nothing. */
async function tried(tab, number) {
  const { kind, text, link } = await tab.evaluate(inside.described, number);
  const selector = `[data-control="${number}"]`;
  const press = async (key) => {
    await tab.focus(selector);
    await tab.keyboard.press(key);
    // What a key does is done at once: only charts wait for a frame.
    await tab.evaluate(() => new Promise((done) => setTimeout(done)));
  };
  if (kind === "summary") {
    const isOpen = () => tab.$eval(selector, (one) => one.parentElement.open);
    for (const key of ["Enter", "Space"]) {
      const before = await isOpen();
      await press(key);
      if ((await isOpen()) === before) {
        return [`keyboard: ${key} does not toggle ${text}`];
      }
    }
  } else if (kind === "a" && link.startsWith("#")) {
    await press("Enter");
    const isThere = await tab.evaluate(() => document.querySelector(":target")?.checkVisibility());
    if (isThere !== true && link !== "#") {
      return [`keyboard: Enter on ${text} shows no ${link}`];
    }
  } else if (kind === "button") {
    await press("Enter");
    if (await tab.evaluate(() => document.activeElement === document.body)) {
      return [`keyboard: after Enter on ${text} nothing has the focus`];
    }
  } else if (kind === "input") {
    await tab.focus(selector);
    await tab.keyboard.type("e");
    if ((await tab.$eval(selector, (one) => one.value)) !== "e") {
      return [`keyboard: ${text} does not take a letter`];
    }
  }
  return [];
}

/** Every control is reached, seen and used without a mouse. */
async function keyboardFaults(tab) {
  const { count, faults } = await tabFaults(tab);
  for (let number = 0; number < count; number++) {
    // What was pressed before may have drawn this one anew, or folded it away.
    if ((await tab.$(`[data-control="${number}"]`)) === null) {
      await tab.evaluate(inside.numberedControls);
    }
    if ((await tab.$(`[data-control="${number}"]`)) !== null) {
      faults.push(...(await tried(tab, number)));
    }
  }
  return [...faults, ...(await mouseOnlyFaults(tab))];
}

/** What is seen and can be used once all is unfolded, at this width and at others. */
async function seenFaults(tab, { width, widths = [] }) {
  const found = named("contrast", await tab.evaluate(seen.contrastFaults));
  found.push(...named("scroll", await tab.evaluate(seen.scrollFaults)));
  found.push(...named("canvas", await tab.evaluate(seen.namelessFaults)));
  found.push(...named("hover", await tab.evaluate(seen.hoverFaults)));
  found.push(...named("legend", await tab.evaluate(seen.legendFaults)));
  for (const one of [width, ...widths]) {
    await tab.setViewport({ width: one, height: HEIGHT_PX });
    await settled(tab);
    const labels = await tab.evaluate(seen.labelFaults);
    found.push(...named(one === width ? "label" : `label at ${one} px`, labels));
  }
  await tab.setViewport({ width, height: HEIGHT_PX });
  await settled(tab);
  return found;
}

/** What is wrong with the page on paper. */
async function printedFaults(browser, path, view, pdf) {
  const { tab, faults } = await opened(browser, path, view);
  const found = await onPaper(tab, path, pdf);
  await tab.close();
  return [...faults, ...found];
}

/** What is wrong with the page as it is seen in one way. */
async function viewFaults(browser, path, page, view) {
  const { tab, faults } = await opened(browser, path, view);
  await settled(tab);
  const { tables, scriptTables = [], canvases = 0, frames = 0 } = page;
  // Folded at first, so that each summary has to be found by its own.
  const keyboard = view.keyboard ? await keyboardFaults(tab) : [];
  if (view.keyboard) {
    await tab.goto("about:blank");
    await tab.goto(pathToFileURL(path).href, { waitUntil: "load" });
  }
  await tab.evaluate(inside.unfold);
  await settled(tab);
  const promised = [...tables, ...scriptTables];
  const found = [
    ...named("table", await tab.evaluate(inside.tableFaults, promised)),
    ...named("drawing", await tab.evaluate(inside.drawingFaults, canvases, frames)),
    ...named("overflow", await tab.evaluate(inside.overflowFaults)),
  ];
  found.push(...(await seenFaults(tab, view)));
  found.push(...(await axeFaults(tab, view)));
  // A page may have more to show behind its links.
  const hidden = await tab.evaluate(inside.firstHiddenTarget);
  if (hidden !== null) {
    await tab.evaluate((hash) => location.assign(hash), hidden);
    await settled(tab);
    found.push(...named("overflow", await tab.evaluate(inside.overflowFaults)));
    found.push(...(await seenFaults(tab, { width: view.width })));
    found.push(...(await axeFaults(tab, view)));
  }
  await tab.close();
  return [...faults, ...keyboard, ...found];
}

/** What is wrong with the page where no script runs. */
async function scriptlessFaults(browser, path, page, view) {
  const { tab, faults } = await opened(browser, path, view);
  // What did not run while the page was loaded does not run later.
  await tab.setJavaScriptEnabled(true);
  await tab.evaluate(inside.unfold);
  const found = named("scriptless", await tab.evaluate(inside.tableFaults, page.tables));
  await tab.close();
  // That a script was not run is what was asked for.
  return [...faults.filter((fault) => !fault.startsWith("console")), ...found];
}

/** Everything that is wrong with a page, where it is looked at in these ways. */
export async function pageFaults(browser, path, page, views = VIEWS) {
  const faults = [];
  for (const view of views) {
    const [place, look] = view.isPaper
      ? ["on paper", () => printedFaults(browser, path, view)]
      : view.isScripted
        ? [`${view.width} px, ${view.scheme}`, () => viewFaults(browser, path, page, view)]
        : ["without scripts", () => scriptlessFaults(browser, path, page, view)];
    const found = await look();
    faults.push(...found.map((fault) => `${place}: ${fault}`));
  }
  return faults;
}

/** Pictures of the page, unfolded, for people. */
export async function savePictures(browser, path, start) {
  for (const view of VIEWS.filter(({ isScripted }) => isScripted)) {
    if (view.isPaper) {
      await printedFaults(browser, path, view, `${start}-paper.pdf`);
      continue;
    }
    const { tab } = await opened(browser, path, view);
    await tab.evaluate(inside.unfold);
    await settled(tab);
    await tab.screenshot({ path: `${start}-${view.width}-${view.scheme}.png`, fullPage: true });
    await tab.close();
  }
}
