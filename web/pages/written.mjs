// The pages that are looked at: dbdyno writes them, from files of the repository or by models in
// virtual time, so that they are the same on every host, but for one.

import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const inputs = join(root, "crates/cli/tests/cmd");
const stores = join(root, "crates/store/tests/data");

const ARM = "mock:?noise=0.02&restarts=0.01";
const SLOWER = `${ARM}&slow=5%`;
/** Exit codes of an answer: all is well, something is worse or broken, something is undecided. */
const FINE = [0, 1, 3];
const SHORT = ["--rows", "2000", "--quick", "--rounds", "8"];

/** Sections that a report of two arms has in any case. */
const OF_TWO = [
  "Queries per second",
  "How sure",
  "Cost and latency",
  "Environment",
  "Host",
  "What differs between the arms",
  "Provenance",
];
const OF_MANY = ["Medians", "rQPS, against base", "rQPS, each against", "What operations cost"];

/**
 * Each page: its name, the words of the command, which its path follows, the headings (how they
 * begin) below which a table stands, and how much the script draws.
 */
export const PAGES = [
  {
    name: "two",
    words: [
      ...["compare", ARM, SLOWER, "--load", "point-query,update-one", "--clients", "1,4"],
      ...[...SHORT, "--report"],
    ],
    tables: [...OF_TWO, "rQPS by load and clients"],
    canvases: 3,
  },
  {
    name: "curves",
    words: [
      ...["compare", "mock:?noise=0.01&sigma=0.02", "mock:?noise=0.01&sigma=0.06"],
      ...["--load", "point-query", "--clients", "1,2,4,8,16", ...SHORT, "--report"],
    ],
    tables: [...OF_TWO, "The rate over clients"],
    canvases: 3,
  },
  {
    // Ratios and percentiles over several powers of ten, and more counts of clients than have room.
    name: "wide",
    words: [
      ...["compare", "mock:?noise=1&sigma=0.9&jitter=1"],
      "mock:?noise=1&sigma=0.9&jitter=1&slow=40%",
      ...["--load", "point-query", "--clients", "1,2,3,4,5,6,7,8,9,10,12,14,16,20,24,28,32"],
      ...[...SHORT, "--report"],
    ],
    tables: [...OF_TWO, "The rate over clients"],
    canvases: 3,
  },
  {
    name: "rows",
    words: [
      ...["compare", "mock:?rate=20000&cpu_us=40&row_us=2&noise=0.01"],
      ...["mock:?rate=20000&cpu_us=40&row_us=3&noise=0.01", "--load"],
      ...["random-points_range=10,random-points,random-points_range=1000", ...SHORT, "--report"],
    ],
    tables: OF_TWO,
    canvases: 9,
  },
  {
    // Counters of the engine's mechanisms cannot be had of a model; this one is measured.
    name: "engine",
    words: [
      ...["compare", "engine:?device=none", "engine:?device=none&view=csn"],
      ...["--load", "read-write", "--rows", "500", "--rounds", "2", "--seconds", "0.1"],
      ...["--restarts", "0", "--warm-up", "0.1", "--report"],
    ],
    tables: [...OF_TWO, "What the engines did"],
    canvases: 2,
  },
  {
    name: "four",
    words: [
      ...["compare", ARM, SLOWER, "mock:?noise=0.02&slow=20%", "mock:?noise=0.02"],
      ...["--load", "point-query,range-covered-pk,scan,update-one,update-index,read-write,insert"],
      ...["--clients", "1,4", ...SHORT, "--report"],
    ],
    tables: [...OF_MANY, "Provenance"],
  },
  {
    name: "interrupted",
    store: "v12.db",
    words: ["report", "--output"],
    tables: ["Response times, against base", "Response times, each against", "Provenance"],
  },
  {
    name: "interrupted pair",
    store: "v6.db",
    words: ["report", "--output"],
    tables: ["Provenance"],
    canvases: 2,
  },
  {
    name: "explanation",
    words: [
      ...["explain", ARM, `${ARM}&sync_us=170000&rate=200&jitter=0.1`, "--rows", "2000"],
      "--report",
    ],
    tables: ["rate, in points", "Where the time of an operation goes"],
  },
  {
    name: "history",
    words: ["history", join(inputs, "history.in/nightly.csv"), "--output"],
    tables: ["qps, higher is better"],
  },
  {
    name: "profile",
    words: [
      ...["profile", "--base", join(inputs, "profile.in/base.folded@1000")],
      ...["--test", join(inputs, "profile.in/test.folded@1000"), "--report"],
    ],
    tables: ["Functions"],
    frames: 5,
  },
  {
    name: "trace",
    words: ["model", "si", "--level", "serializable", "--html"],
    tables: [],
    scriptTables: ["transactions", "versions"],
  },
];

/** Writes a page into the folder; its path. */
export async function writtenPage(program, folder, page) {
  const home = join(folder, page.name.replaceAll(" ", "-"));
  await mkdir(home, { mode: 0o700 });
  const path = join(home, "page.html");
  const words = [...page.words, path];
  if (page.store !== undefined) {
    // To read a store of an older form is to bring it into the present one.
    const copy = join(home, page.store);
    await copyFile(join(stores, page.store), copy);
    words.push("--store", copy);
  }
  const env = { ...process.env, DBDYNO_HOME: home, NO_COLOR: "1" };
  const { code, said } = await new Promise((done) => {
    execFile(program, words, { env }, (error, _, said) => done({ code: error?.code ?? 0, said }));
  });
  if (!FINE.includes(code)) {
    throw new Error(`dbdyno ${words.join(" ")} ended with ${code}: ${said}`);
  }
  return path;
}

/** Pages of made-up runs, which have what a run seldom has, as this program writes them. */
export async function samplePages(program, folder) {
  if (program === undefined) {
    return [];
  }
  const place = join(folder, "samples");
  await mkdir(place);
  await new Promise((done, failed) => {
    execFile(program, [place], (error) => (error === null ? done() : failed(error)));
  });
  // To look at the largest takes minutes.
  const names = (await readdir(place)).sort().filter((name) => name !== "large.html");
  return names.map((name) => ({
    name: `sample ${name.replace(".html", "")}`,
    path: join(place, name),
    tables: ["Provenance"],
  }));
}
