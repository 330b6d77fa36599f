// Where the frames of a flame graph lie, and which a word is found in.

/** A function under its callers; costs are shares of what an operation of base costs. */
export interface Node {
  name: string;
  base: number;
  test: number;
  /** Its own in the dearer arm, and the widths of all that it calls. */
  width: number;
  children: Node[];
}

export interface Frame {
  node: Node;
  depth: number;
  /** From 0 to 1 of the graph. */
  left: number;
  width: number;
}

/** The nodes from the root down to one. */
export function path(root: Node, to: Node): Node[] {
  if (root === to) {
    return [root];
  }
  for (const child of root.children) {
    const below = path(child, to);
    if (below.length > 0) {
      return [root, ...below];
    }
  }
  return [];
}

/** All frames when one looks at a node: its callers over the whole width, and what it calls. */
export function laidOut(root: Node, seen: Node): Frame[] {
  const callers = path(root, seen);
  const frames: Frame[] = callers
    .slice(0, -1)
    .map((node, depth) => ({ node, depth, left: 0, width: 1 }));
  const place = (node: Node, depth: number, left: number) => {
    frames.push({ node, depth, left, width: node.width / seen.width });
    let at = left;
    for (const child of node.children) {
      place(child, depth + 1, at);
      at += child.width / seen.width;
    }
  };
  place(seen, callers.length - 1, 0);
  return frames;
}

/** Functions with a word in their names, and what they cost, one inside of another once. */
export function matching(root: Node, word: string) {
  const nodes = new Set<Node>();
  let [base, test] = [0, 0];
  const wanted = word.trim().toLowerCase();
  const look = (node: Node, isWithin: boolean) => {
    const isIt = wanted !== "" && node.name.toLowerCase().includes(wanted);
    if (isIt) {
      nodes.add(node);
      base += isWithin ? 0 : node.base;
      test += isWithin ? 0 : node.test;
    }
    node.children.forEach((child) => look(child, isWithin || isIt));
  };
  look(root, false);
  return { nodes, base, test };
}
