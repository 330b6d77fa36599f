// Pages with a fault in each, planted here: a check that does not find its own is none.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pageFaults } from "./checks.mjs";
import { canReadPdf } from "./paper.mjs";

const POLICY = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
const SAID = "<p>planted</p>";
const DRAWING = '<svg role="img" aria-label="planted" width="99" height="20">';

/** What is put at the end of a page, and how what is said about it has to begin. */
const PLANTED = [
  { html: '<input type="text">', fault: "axe: label" },
  { html: '<p style="color:#888;background:#999">planted</p>', fault: "axe: color-contrast" },
  { html: '<p style="color:#888;background:#999">planted</p>', fault: "contrast: 1." },
  {
    // axe-core does not judge what stands on a gradient, or in a drawing.
    html: '<p style="color:#777;background:linear-gradient(#fff,#777)">planted</p>',
    fault: 'contrast: 1.00 of 4.5: "planted" in <p',
  },
  { html: `${DRAWING}<text y="15" fill="#ddd">planted</text></svg>`, fault: "contrast: 1." },
  {
    html: `${DRAWING}<text y="15">planted</text><text x="9" y="15">other</text></svg>`,
    fault: 'label: "other" stands upon "planted"',
  },
  {
    html: `${DRAWING}<text x="-9" y="15">planted</text></svg>`,
    fault: 'label: "planted" is cut off',
  },
  {
    html: `<canvas role="img" aria-label="planted chart"></canvas><script>
      const pen = document.querySelector("canvas").getContext("2d");
      pen.textAlign = "right";
      ["0.5", "2", "4"].forEach((text, at) => pen.fillText(text, 50, 99 - 30 * at));
      pen.fillText("rQPS of the pair", 200, 20);</script>`,
    fault: "label: there is no label at 1 between 0.5, 2, 4",
  },
  { html: `${DRAWING}<path d="MNaN 1H9"/></svg>`, fault: "console: Error: <path> attribute d" },
  {
    html: '<div style="overflow:auto;width:50px"><p style="width:200px">planted</p></div>',
    fault: "scroll: without tabindex and role and name",
  },
  {
    html: '<div tabindex="0" style="overflow:auto;width:50px"><p style="width:200px">x</p></div>',
    fault: "scroll: without role and name",
  },
  { html: '<canvas aria-label="a planted one"></canvas>', fault: "canvas: a canvas" },
  { html: '<canvas role="img" aria-label="planted"></canvas>', fault: "canvas: a canvas" },
  { html: '<p title="planted">one</p>', fault: 'hover: only the mouse is told "planted"' },
  {
    html: `${DRAWING}<circle r="5"><title>1: planted</title></circle></svg>`,
    fault: "hover: only the mouse is told",
  },
  {
    html: `<table class="u-legend"><tr class="u-series"
      onclick="this.classList.toggle('u-off')"><th class="u-label">planted</th></tr></table>`,
    fault: 'legend: "Enter" does not change "planted"',
  },
  {
    html: '<table><tr><td><p style="width:900px">x</p></td></tr></table>',
    fault: "paper: the page",
  },
  {
    html: '<p style="width:99px;overflow:hidden;white-space:nowrap">a line that is cut</p>',
    fault: "paper: cut off: <p> a line" },
  {
    html: `<style>@media print{details::details-content{content-visibility:hidden}}</style>
      <details><summary>planted</summary><p>x</p></details>`,
    fault: "paper: folded: <summary> planted",
  },
  { html: "<style>h1{break-after:auto!important}</style>", fault: "paper: alone at the foot" },
  { html: "<style>tr{break-inside:auto!important}</style>", fault: "paper: parted by the end" },
  {
    html: `<div style="break-before:page;height:940px"></div>
      <h2 style="break-after:auto">planted alone</h2><div style="height:300px;break-inside:avoid">
      <p>below</p></div>`,
    fault: "paper: a heading is alone",
    needs: "pdftotext",
  },
  {
    html: `<table><tr><td>one</td><td id="lost">qzxqzx</td></tr></table><script>
      let times = 0;
      addEventListener("beforeprint", () => ++times === 2 && document.getElementById("lost")
        .remove());</script>`,
    fault: 'paper: the last column lost "qzxqzx"',
    needs: "pdftotext",
  },
  { html: "<style>body{color:#ddd!important}</style>", fault: "paper: letters are light" },
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
  const readsPdf = await canReadPdf();
  const good = (await readFile(path, "utf8")).replace(POLICY, "");
  const missed = [];
  const tried = PLANTED.filter(({ needs }) => needs === undefined || readsPdf);
  for (const [at, one] of tried.entries()) {
    const planted = join(folder, `planted-${at}.html`);
    await writeFile(planted, good.replace("</main>", `${one.html}\n</main>`));
    const view = {
      width: 390,
      scheme: "light",
      isScripted: !one.fault.startsWith("scriptless"),
      keyboard: one.fault.startsWith("keyboard"),
      barriers: one.fault.startsWith("axe"),
      isPaper: one.fault.startsWith("paper"),
    };
    const found = await pageFaults(browser, planted, { ...page, ...one.page }, [view]);
    if (!found.some((fault) => fault.includes(`: ${one.fault}`))) {
      missed.push(`"${one.fault}" was not found, but ${JSON.stringify(found)}: ${one.html}`);
    }
  }
  return { planted: tried.length, missed };
}
