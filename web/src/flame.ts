// The differential flame graph of a page of profiles: frames as wide as the dearer arm, with a bar
// for each arm in them, so that nothing that one arm alone has is lost. Click to look closer, type
// to search; keys as in a tree.

import { laidOut, matching, type Frame, type Node } from "./frames";

const ROW_PX = 28;
/** Narrower frames are not drawn until one looks closer. */
const LEAST_PX = 1.5;
const LABEL_PX = 34;

interface Place {
  graph: HTMLElement;
  details: HTMLElement;
  search: HTMLInputElement;
}

function percent(share: number): string {
  return (100 * share).toFixed(2);
}

function signed(share: number): string {
  const text = Math.abs(100 * share).toFixed(2);
  return share < 0 ? `\u2212${text}` : `+${text}`;
}

function told(node: Node): string {
  const change = signed(node.test - node.base);
  return `${node.name}: base ${percent(node.base)} %, test ${percent(node.test)} %, ${change}`;
}

/** How strongly a frame is shaded: by what it adds, against the largest change of all. */
function shade(node: Node, largest: number): string {
  const change = node.test - node.base;
  const strength = Math.round(45 * Math.min(1, Math.abs(change) / largest));
  const colour = change >= 0 ? "var(--slower)" : "var(--faster)";
  return `color-mix(in srgb, ${colour} ${strength}%, var(--shade))`;
}

function bar(arm: "base" | "test", share: number): HTMLElement {
  const element = document.createElement("i");
  element.className = arm;
  element.style.width = `${100 * share}%`;
  return element;
}

function drawn(frame: Frame, widthPx: number, largest: number, look: (node: Node) => void) {
  const { node } = frame;
  const element = document.createElement("button");
  const width = frame.width * widthPx;
  element.type = "button";
  // Shares of the width, so that paper has them all.
  const [left, share] = [100 * frame.left, 100 * frame.width];
  element.style.cssText = `left:${left}%;width:${share}%;top:${frame.depth * ROW_PX}px`;
  element.style.background = shade(node, largest);
  element.title = told(node);
  if (width >= LABEL_PX) {
    const label = document.createElement("span");
    label.textContent = `${node.name} ${signed(node.test - node.base)}`;
    element.append(label);
  }
  element.append(bar("base", node.base / node.width), bar("test", node.test / node.width));
  element.addEventListener("click", () => look(node));
  return element;
}

function start(root: Node, { graph, details, search }: Place) {
  let seen = root;
  const largest = Math.max(
    1e-9,
    ...root.children.flatMap((node) => [node, ...node.children]).map((node) =>
      Math.abs(node.test - node.base),
    ),
  );
  const draw = (): Frame[] => {
    const widthPx = graph.clientWidth;
    const frames = laidOut(root, seen).filter((frame) => frame.width * widthPx >= LEAST_PX);
    const found = matching(root, search.value);
    const depth = Math.max(0, ...frames.map((frame) => frame.depth));
    graph.style.height = `${(depth + 1) * ROW_PX}px`;
    const look = (node: Node) => {
      seen = node === seen ? root : node;
      const at = draw().findIndex((frame) => frame.node === node);
      // What was pressed is drawn anew: the keyboard goes on from there.
      (graph.children[at] as HTMLElement | undefined)?.focus();
      details.textContent = told(node);
    };
    graph.replaceChildren(
      ...frames.map((frame) => {
        const element = drawn(frame, widthPx, largest, look);
        element.classList.toggle("found", found.nodes.has(frame.node));
        for (const event of ["pointerenter", "focus"]) {
          element.addEventListener(event, () => {
            details.textContent = told(frame.node);
          });
        }
        return element;
      }),
    );
    if (search.value !== "") {
      const [base, test] = [percent(found.base), percent(found.test)];
      details.textContent = `${found.nodes.size} found: base ${base} %, test ${test} %`;
    }
    return frames;
  };
  search.addEventListener("input", draw);
  window.addEventListener("resize", draw);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const hadFocus = graph.contains(document.activeElement);
      search.value = "";
      seen = root;
      draw();
      if (hadFocus) {
        (graph.firstElementChild as HTMLElement | null)?.focus();
      }
      details.textContent = told(root);
    }
  });
  details.textContent = told(root);
  draw();
}

const data = document.getElementById("flame-data");
const graph = document.getElementById("flame");
const details = document.getElementById("flame-details");
const search = document.getElementById("flame-search");
if (data && graph && details && search instanceof HTMLInputElement) {
  search.hidden = false;
  start(JSON.parse(data.textContent ?? "") as Node, { graph, details, search });
}
