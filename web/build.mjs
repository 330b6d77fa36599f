// Bundles the page into crates/report/assets, where `include_str!` finds it. With --check nothing
// is written: the command fails if what stands there is not what these sources give.

import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = new URL("./", import.meta.url);
const assets = new URL("../crates/report/assets/", here);

/** Preact and uPlot ask that their notices go with every copy, and a report is one. */
async function notices() {
  const texts = ["preact", "uplot"].map(async (name) => {
    const licence = await readFile(new URL(`node_modules/${name}/LICENSE`, here), "utf8");
    return `${name}: ${licence.trim()}`;
  });
  return `/*! ${(await Promise.all(texts)).join("\n\n")} */`;
}

async function bundle(entryPoints, js) {
  const result = await build({
    absWorkingDir: fileURLToPath(here),
    entryPoints,
    outdir: "dist",
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022"],
    charset: "ascii",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    banner: { js },
    write: false,
  });
  return result.outputFiles.map((file) => ({ name: basename(file.path), text: file.text }));
}

const isCheck = process.argv.includes("--check");
const page = await bundle({ page: "src/main.tsx" }, await notices());
const flame = await bundle({ flame: "src/flame.ts" }, "");
for (const { name, text } of [...page, ...flame]) {
  const path = new URL(name, assets);
  if (!isCheck) {
    await writeFile(path, text);
    console.log(`${name}: ${text.length} bytes`);
  } else if ((await readFile(path, "utf8")) !== text) {
    console.error(`crates/report/assets/${name} is not what web/ builds; run 'npm run build'`);
    process.exitCode = 1;
  }
}
