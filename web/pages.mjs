// Looks at every kind of page that dbdyno writes in a browser: on a wide and on a narrow screen,
// light and dark, by keyboard, without scripts. That the checks find something is tried as well, on
// planted faults.
//
//   node pages.mjs [--pictures FOLDER] [NAME…]
//
// DBDYNO names the program, SAMPLES the one that writes pages of made-up runs, which are looked at
// as well where it is given (`cargo build -p dbdyno-report --examples`), CHROMIUM the browser. Exit
// code 1: something is wrong.

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "puppeteer-core";
import { pageFaults, savePictures } from "./pages/checks.mjs";
import { missedFaults } from "./pages/planted.mjs";
import { PAGES, samplePages, writtenPage } from "./pages/written.mjs";

/** The page that faults are planted into: small, with a script. */
const SMALL = "trace";

const say = (text) => console.error(`pages: ${text}`);

/** Does the work of all, a few at a time. */
async function eachOf(all, work) {
  const left = [...all];
  const workers = Array.from({ length: Math.min(4, availableParallelism()) }, async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      await work(one);
    }
  });
  await Promise.all(workers);
}

/** Writes and looks at every page. */
async function looked(browser, program, folder, { pictures, names, samples }) {
  const all = [...PAGES, ...(await samplePages(samples, folder))];
  const chosen = all.filter(({ name }) => names.length === 0 || names.includes(name));
  const paths = [];
  let wrong = 0;
  await eachOf(chosen, async (page) => {
    const path = page.path ?? (await writtenPage(program, folder, page));
    const faults = await pageFaults(browser, path, page);
    wrong += faults.length;
    paths.push([page, path]);
    faults.forEach((fault) => say(`${page.name}, ${fault}`));
  });
  if (pictures !== undefined) {
    await mkdir(pictures, { recursive: true });
    // One after the other: only what is in front is drawn for a picture.
    for (const [page, path] of paths) {
      await savePictures(browser, path, join(pictures, page.name.replaceAll(" ", "-")));
    }
  }
  return { pages: chosen.length, wrong };
}

/** Plants faults and looks whether they are found. */
async function tried(browser, program, folder) {
  const page = { ...PAGES.find(({ name }) => name === SMALL), name: "planted" };
  const path = await writtenPage(program, folder, page);
  const { planted, missed } = await missedFaults(browser, folder, path, page);
  missed.forEach((one) => say(`a planted fault: ${one}`));
  return { planted, missed: missed.length };
}

const { values, positionals: names } = parseArgs({
  options: { pictures: { type: "string" } },
  allowPositionals: true,
});
const { DBDYNO: program, SAMPLES: samples } = process.env;
const { CHROMIUM: executablePath = "/usr/bin/chromium" } = process.env;
const folder = await mkdtemp(join(tmpdir(), "dbdyno-pages-"));
// Only pages of our own are opened, and a container seldom lets Chromium build its sandbox.
const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
/** Milliseconds for one answer of the browser, whatever else the machine does: only a page that
 * hangs takes as long, and is told of as one. */
const timeout = 300_000;
const browser = await launch({ executablePath, args, timeout, protocolTimeout: timeout });
try {
  const [{ pages, wrong }, { planted, missed }] = await Promise.all([
    looked(browser, program, folder, { ...values, names, samples }),
    tried(browser, program, folder),
  ]);
  say(`${pages} pages, ${wrong} faults; ${planted - missed} of ${planted} planted ones found`);
  process.exitCode = wrong + missed === 0 ? 0 : 1;
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
