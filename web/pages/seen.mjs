// What is asked inside of a page about what one sees of it: whether texts stand out from what is
// behind them, and whether labels of drawings stand upon each other. As in inside.mjs each function
// is sent to the page as text.

/** Texts with less contrast than 4.5, or 3 where letters are large, of all that are seen. */
export function contrastFaults() {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  /** Red, green, blue and opacity, from 0 to 1, of a colour in any notation. */
  const parsed = (colour) => {
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      known.set(colour, [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255));
    }
    return known.get(colour);
  };
  const over = ([red, green, blue, opacity], below) =>
    [red, green, blue].map((part, at) => part * opacity + below[at] * (1 - opacity));
  const luminance = (colour) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = colour.map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  /** Colours in a computed style, of which a gradient has several. */
  const colours = (style) => style.match(/(?:rgba?|oklab|oklch|color|hsla?)\([^()]*\)/g) ?? [];
  /** What may stand behind an element: each colour of what is not of one. */
  const behind = (element) => {
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    const { parentElement: parent } = element;
    const below = parent === null ? [[1, 1, 1]] : behind(parent);
    const plain = below.map((one) => over(parsed(backgroundColor), one));
    const drawn = colours(backgroundImage).map(parsed);
    return drawn.length === 0 ? plain : plain.flatMap((one) => drawn.map((two) => over(two, one)));
  };
  const opacity = (element) =>
    element === null ? 1 : getComputedStyle(element).opacity * opacity(element.parentElement);
  const least = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const hidden = "script, style, svg title, .unseen, :disabled";
    const text = node.data.trim();
    if (text === "" || element.closest(hidden) !== null || !element.checkVisibility()) {
      continue;
    }
    const style = getComputedStyle(element);
    const own = parsed(element.closest("svg") === null ? style.color : style.fill);
    const ink = [...own.slice(0, 3), own[3] * opacity(element)];
    const worst = Math.min(...behind(element).map((paper) => contrast(over(ink, paper), paper)));
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const asked = isLarge ? 3 : 4.5;
    // One of each kind is enough to find the others.
    const place = `<${element.localName} class="${element.getAttribute("class") ?? ""}">`;
    if (worst < asked - 0.005 && worst < (least.get(place)?.worst ?? Infinity)) {
      least.set(place, { worst, asked, text });
    }
  }
  return [...least].map(
    ([place, { worst, asked, text }]) =>
      `${worst.toFixed(2)} of ${asked}: "${text.slice(0, 40)}" in ${place}`,
  );
}

/** Writes down which texts are drawn on which canvas, and where: before the page's script runs. */
export function noteDrawnTexts() {
  const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...all) {
    this.canvas.texts = [];
    return clearRect.apply(this, all);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const size = this.measureText(text);
    const at = this.getTransform();
    const corners = [
      [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
      [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
    ].map(([left, top]) => at.transformPoint({ x: left, y: top }));
    const [xs, ys] = [corners.map((one) => one.x), corners.map((one) => one.y)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [right, bottom] = [Math.max(...xs), Math.max(...ys)];
    const { textAlign: side, fillStyle: colour } = this;
    (this.canvas.texts ??= []).push({ text, left, top, right, bottom, side, colour });
    return fillText.call(this, text, x, y, ...rest);
  };
}

/**
 * Labels of drawings that stand upon each other or are cut off, and logarithmic axes of ratios,
 * which have values on both sides of 1, without a label there.
 */
export function labelFaults() {
  const faults = [];
  const drawings = [];
  for (const canvas of document.querySelectorAll("canvas")) {
    if (canvas.checkVisibility() && canvas.texts !== undefined) {
      const box = { left: 0, top: 0, right: canvas.width, bottom: canvas.height };
      drawings.push({ box, texts: canvas.texts, name: canvas.getAttribute("aria-label") ?? "" });
    }
  }
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].filter((one) => one.checkVisibility());
    if (texts.length > 0 && svg.checkVisibility()) {
      const boxes = texts.map((one) => {
        const { left, top, right, bottom, height } = one.getBoundingClientRect();
        // Above and below digits there is room for accents.
        const [air, text] = [0.2 * height, one.textContent];
        return { text, left, top: top + air, right, bottom: bottom - air };
      });
      const box = svg.getBoundingClientRect();
      drawings.push({ box, texts: boxes, name: svg.getAttribute("aria-label") ?? "" });
    }
  }
  for (const { box, texts, name } of drawings) {
    const place = `in "${name.slice(0, 40)}"`;
    texts.forEach((one, at) => {
      const { left, top, right, bottom, text } = one;
      const isUpon = (two) =>
        left < two.right + 1 && two.left < right + 1 && top < two.bottom && two.top < bottom;
      const other = texts.slice(0, at).find(isUpon);
      if (other !== undefined) {
        faults.push(`"${text}" stands upon "${other.text}" ${place}`);
      }
      const isIn = left >= box.left - 1 && right <= box.right + 1;
      if (!isIn || top < box.top - 1 || bottom > box.bottom + 1) {
        faults.push(`"${text}" is cut off ${place}`);
      }
    });
    const ratios = texts.filter(({ side, text }) => side === "right" && /^[\d.]+$/.test(text));
    const values = ratios.map(({ text }) => Number(text));
    const isOfRatios = texts.some(({ text }) => text.startsWith("rQPS"));
    const isAround = Math.min(...values) < 1 && Math.max(...values) > 1;
    if (isOfRatios && isAround && !values.includes(1)) {
      faults.push(`there is no label at 1 between ${values.join(", ")} ${place}`);
    }
  }
  return faults;
}

/** Drawings of scripts that a screen reader does not find, or finds without words. */
export function namelessFaults() {
  const faults = [];
  for (const canvas of document.querySelectorAll("canvas")) {
    const name = canvas.getAttribute("aria-label")?.trim() ?? "";
    if (canvas.getAttribute("role") !== "img" || !name.includes(" ")) {
      faults.push(`a canvas in "${canvas.closest("figure")?.textContent.slice(0, 40)}"`);
    }
  }
  return faults;
}

/** Boxes that scroll and that the keyboard cannot come to, or that do not say what they are. */
export function scrollFaults() {
  const faults = [];
  const scrolls = (style) => /auto|scroll/.test(style);
  for (const one of document.querySelectorAll("body *")) {
    const { overflowX, overflowY } = getComputedStyle(one);
    const isWide = scrolls(overflowX) && one.scrollWidth > one.clientWidth;
    const isHigh = scrolls(overflowY) && one.scrollHeight > one.clientHeight;
    if (!one.checkVisibility() || !(isWide || isHigh)) {
      continue;
    }
    const labels = (one.getAttribute("aria-labelledby") ?? "").split(" ");
    const label = labels.map((id) => document.getElementById(id)?.textContent).join("");
    const name = one.getAttribute("aria-label") ?? label;
    const lacks = [
      [one.tabIndex >= 0 && one.hasAttribute("tabindex"), "tabindex"],
      [one.hasAttribute("role"), "role"],
      [name.trim() !== "", "name"],
    ];
    const lacking = lacks.filter(([has]) => !has).map(([, what]) => what);
    if (lacking.length > 0) {
      const what = `<${one.localName} class="${one.className}"> ${one.textContent.slice(0, 40)}`;
      faults.push(`without ${lacking.join(" and ")}: ${what.trim()}`);
    }
  }
  return faults;
}

/** What is said only where the mouse points, of what cannot have the focus or stands nowhere. */
export function hoverFaults() {
  const texts = [...document.querySelectorAll("td, th, p, dd, li, text")];
  const said = [...new Set(texts.map((one) => one.textContent.trim()))];
  const faults = new Set();
  const look = (text) => {
    // A title has several values, which stand in cells of their own: "12: run, value".
    const parts = text.split(/: |, /).filter((part) => part !== "");
    // An interval may follow.
    const missing = parts.filter((part) => !said.some((one) => one.startsWith(part)));
    if (missing.length > 0) {
      faults.add(`only the mouse is told "${missing[0]}" of "${text}"`);
    }
  };
  for (const title of document.querySelectorAll("svg:not([aria-labelledby]) title")) {
    look(title.textContent.trim());
  }
  for (const one of document.querySelectorAll("[title]")) {
    if (one.tabIndex < 0) {
      look(one.title.trim());
    }
  }
  return [...faults].slice(0, 3);
}

/** Whether each entry of a legend that a click changes is changed by Enter and Space as well. */
export async function legendFaults() {
  const faults = [];
  for (const row of document.querySelectorAll(".u-legend .u-series")) {
    const click = (one) => one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    const label = row.querySelector(".u-label");
    const isOff = () => row.classList.contains("u-off");
    const before = isOff();
    click(label);
    const reacts = isOff() !== before;
    if (!reacts || !row.checkVisibility()) {
      continue;
    }
    click(label);
    const has = label.tabIndex >= 0 && label.getAttribute("role") === "button";
    for (const key of ["Enter", " "]) {
      label.focus();
      const [at, pressed] = [isOff(), label.getAttribute("aria-pressed")];
      label.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      const told = label.getAttribute("aria-pressed");
      if (!has || document.activeElement !== label || isOff() === at || told === pressed) {
        faults.push(`"${key}" does not change "${label.textContent}" of a legend`);
      }
    }
  }
  return faults;
}
