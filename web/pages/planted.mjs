// Pages with a fault in each, planted here: a check that does not find its own is none.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pageFaults } from "./checks.mjs";

const POLICY = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
const SAID = "<p>planted</p>";

/** What is put at the end of a page, and how what is said about it has to begin. */
const PLANTED = [
  { html: '<input type="text">', fault: "axe: label" },
  { html: '<p style="color:#888;background:#999">planted</p>', fault: "axe: color-contrast" },
  { html: '<script>console.error("planted")</script>', fault: "console: planted" },
  { html: "<script>throw new Error('planted')</script>", fault: "console: planted" },
  { html: '<img src="http://127.0.0.1:9/a.png" alt="planted">', fault: "request: http://127.0" },
  { html: '<div style="width:2000px">planted</div>', fault: "overflow: the page is" },
  { html: '<svg role="img" aria-label="planted"></svg>', fault: 'drawing: a drawing "planted"' },
  {
    html: '<svg role="img" aria-label="planted"><path d="M1 1"/></svg>',
    fault: 'drawing: a drawing "planted"',
  },
  { html: '<canvas role="img" aria-label="planted"></canvas>', fault: "drawing: a canvas" },
  { html: "", page: { canvases: 99 }, fault: "drawing: the script drew" },
  { html: "", page: { frames: 99 }, fault: "drawing: the script drew" },
  { html: "<section><h2>planted</h2></section>", fault: 'table: "planted" has nothing below' },
  { html: "<table><tr><th>planted</th></tr></table>", fault: "table: a table below" },
  { html: "", page: { tables: ["planted"] }, fault: 'table: there is no heading "planted"' },
  {
    html: `<h2>planted</h2>${SAID}`,
    page: { tables: ["planted"] },
    fault: 'table: there is no table below "planted"',
  },
  { html: '<button tabindex="-1">planted</button>', fault: "keyboard: Tab does not come to" },
  { html: '<button style="outline:none">planted</button>', fault: "keyboard: one does not see" },
  { html: '<button onclick="this.remove()">planted</button>', fault: "keyboard: after Enter on" },
  { html: '<p onclick="this.remove()">planted</p>', fault: "keyboard: only a mouse can click" },
  { html: '<a href="#nowhere">planted</a>', fault: "keyboard: Enter on <a> planted shows no" },
  {
    html: '<details><summary onclick="event.preventDefault()">planted</summary>x</details>',
    fault: "keyboard: Enter does not toggle",
  },
  { html: '<input aria-label="planted" readonly>', fault: "keyboard: <input> planted does not" },
  {
    html: `<script>document.querySelector("main").insertAdjacentHTML("beforeend",
      "<h2>planted</h2><table><tr><td>planted</td></tr></table>")</script>`,
    page: { tables: ["planted"] },
    fault: "scriptless: there is no heading",
  },
];

/** Planted faults that nothing was said about, of a page that has none of its own. */
export async function missedFaults(browser, folder, path, page) {
  const good = (await readFile(path, "utf8")).replace(POLICY, "");
  const missed = [];
  for (const [at, one] of PLANTED.entries()) {
    const planted = join(folder, `planted-${at}.html`);
    await writeFile(planted, good.replace("</main>", `${one.html}\n</main>`));
    const view = {
      width: 390,
      scheme: "light",
      isScripted: !one.fault.startsWith("scriptless"),
      keyboard: one.fault.startsWith("keyboard"),
      barriers: one.fault.startsWith("axe"),
    };
    const found = await pageFaults(browser, planted, { ...page, ...one.page }, [view]);
    if (!found.some((fault) => fault.includes(`: ${one.fault}`))) {
      missed.push(`"${one.fault}" was not found, but ${JSON.stringify(found)}: ${one.html}`);
    }
  }
  return { planted: PLANTED.length, missed };
}
