import assert from "node:assert/strict";
import { test } from "node:test";
import { laidOut, matching, path, type Node } from "../src/frames";

function node(name: string, base: number, testCost: number, children: Node[] = []): Node {
  const width = children.reduce((sum, child) => sum + child.width, 0);
  return { name, base, test: testCost, width: width || Math.max(base, testCost), children };
}

const gone = node("ha_search", 0.2, 0);
const read = node("row_read", 0.1, 0.5, [node("row_copy", 0.1, 0.5)]);
const work = node("work", 0.3, 0.5, [gone, read]);
const root = node("all", 1, 1.2, [work, node("parse", 0.7, 0.7)]);

test("frames lie beside each other and within their callers", () => {
  const frames = laidOut(root, root);
  const of = (name: string) => frames.find((frame) => frame.node.name === name)!;
  assert.equal(of("all").width, 1);
  assert.equal(of("ha_search").left, of("work").left);
  assert.equal(of("row_read").left, of("ha_search").left + of("ha_search").width);
  assert.equal(of("parse").left, of("work").width);
  assert.equal(of("row_copy").depth, 3);
});

test("who looks closer has the callers over the whole width and no others", () => {
  const frames = laidOut(root, read);
  const names = frames.map((frame) => [frame.node.name, frame.depth, frame.width]);
  assert.deepEqual(names, [
    ["all", 0, 1],
    ["work", 1, 1],
    ["row_read", 2, 1],
    ["row_copy", 3, 1],
  ]);
  assert.deepEqual(path(root, node("elsewhere", 0, 0)), []);
});

test("what is found within what is found counts once", () => {
  const found = matching(root, "ROW_");
  assert.equal(found.nodes.size, 2);
  assert.equal(found.test, 0.5);
  assert.equal(matching(root, " ").nodes.size, 0);
});
