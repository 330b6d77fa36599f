// Steps through a trace in the Informal Trace Format: one state at a time, with what changed since
// the state before it.
(() => {
  "use strict";
  const trace = JSON.parse(document.getElementById("trace-data").textContent);
  const list = document.getElementById("steps");
  const listBox = list.parentElement;
  const view = document.getElementById("state");
  const bar = document.getElementById("controls");
  const where = document.getElementById("where");
  const items = [...list.children].map((item) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = item.textContent;
    item.replaceChildren(button);
    return button;
  });
  const names = trace.vars.filter((name) => name !== "action");
  let at = 0;

  const make = (tag, text, name) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (name) node.className = name;
    return node;
  };

  /** [key, value] of a map or a record; null of anything else. */
  const entries = (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
    if ("#map" in value) return value["#map"];
    if ("#set" in value || "#tup" in value || "#bigint" in value) return null;
    return Object.entries(value);
  };

  const plain = (value) => {
    if (value === null || typeof value !== "object") return String(value);
    if ("#bigint" in value) return value["#bigint"];
    const many = Array.isArray(value) ? value : value["#set"] ?? value["#tup"];
    if (many) return many.length === 0 ? "\u2013" : many.map(plain).join(", ");
    return entries(value).map(([key, one]) => `${plain(key)} ${plain(one)}`).join("; ");
  };

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  const cell = (value, before) => {
    const isNew = before !== undefined && !same(value, before);
    const text = plain(value);
    return make("td", text === "" ? "\u2013" : text, isNew ? "changed" : "");
  };

  /** A table: a row for each entry, a column for each field where entries are records. */
  const table = (name, value, before) => {
    const part = make("section");
    part.append(make("h3", name.replaceAll("_", " ")));
    const scroll = make("div", undefined, "scroll");
    const grid = make("table");
    const rows = entries(value);
    if (!rows) {
      const row = make("tr");
      row.append(cell(value, before));
      grid.append(row);
    } else {
      const old = new Map((before === undefined ? [] : entries(before) ?? []));
      const fields = [];
      for (const [, one] of rows) {
        for (const [field] of entries(one) ?? []) if (!fields.includes(field)) fields.push(field);
      }
      if (fields.length > 0) {
        const head = make("tr");
        head.append(make("th"));
        for (const field of fields) head.append(make("th", field.replaceAll("_", " ")));
        grid.append(head);
      }
      for (const [key, one] of rows) {
        const row = make("tr");
        const label = make("th", plain(key));
        label.scope = "row";
        row.append(label);
        const was = old.get(key);
        if (fields.length === 0) {
          row.append(cell(one, was));
        } else {
          const now = new Map(entries(one) ?? []);
          const then = was === undefined ? undefined : new Map(entries(was) ?? []);
          for (const field of fields) {
            const value = now.has(field) ? now.get(field) : "";
            row.append(cell(value, then === undefined ? undefined : then.get(field) ?? ""));
          }
        }
        grid.append(row);
      }
    }
    scroll.append(grid);
    part.append(scroll);
    return part;
  };

  const show = (next) => {
    at = Math.max(0, Math.min(items.length - 1, next));
    items.forEach((item, index) => {
      if (index === at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    const box = listBox.getBoundingClientRect();
    const own = items[at].getBoundingClientRect();
    if (own.top < box.top) listBox.scrollTop -= box.top - own.top;
    if (own.bottom > box.bottom) listBox.scrollTop += own.bottom - box.bottom;
    where.textContent = `${at} of ${items.length - 1}: ${items[at].textContent}`;
    const state = trace.states[at];
    const before = at > 0 ? trace.states[at - 1] : undefined;
    view.replaceChildren(...names.map((name) => table(name, state[name], before?.[name])));
    // Not every browser lets the keyboard scroll what cannot have the focus.
    for (const scroll of view.querySelectorAll(".scroll")) {
      if (scroll.scrollWidth > scroll.clientWidth) {
        scroll.tabIndex = 0;
        scroll.setAttribute("role", "region");
        scroll.setAttribute("aria-label", scroll.previousElementSibling.textContent);
      }
    }
    document.getElementById("back").disabled = at === 0;
    document.getElementById("on").disabled = at === items.length - 1;
  };

  items.forEach((item, index) => item.addEventListener("click", () => show(index)));
  document.getElementById("back").addEventListener("click", () => show(at - 1));
  document.getElementById("on").addEventListener("click", () => show(at + 1));
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest(".scroll, pre") !== null) return;
    event.preventDefault();
    show(at + step);
  });
  bar.hidden = false;
  show(Math.min(items.length - 1, Number.parseInt(location.hash.slice(1), 10) || 0));
})();
