"use strict";
// What all pages with a machine have in common: the view, its switches, the keyboard, light and dark.

Denoc.find = (id) => document.getElementById(id);

// the viewer that `make` makes, or none where the browser can't draw in space
Denoc.viewed = (make) => {
  try {
    const viewer = make();
    for (const [what, wanted] of Object.entries(viewer.shown)) viewer.show(what, wanted);
    return viewer;
  } catch (error) {
    Denoc.find("nowebgl").hidden = false;
    return null;
  }
};

// charts() are those that are drawn now, and keys are the page's own beside those of the view
Denoc.stage = (viewer, charts, keys) => {
  const { find } = Denoc;
  find("home").addEventListener("click", () => viewer && viewer.home());
  find("follow").addEventListener("change", (event) => { if (viewer) viewer.follows = event.target.checked; });
  for (const what of ["names", "frames", "centres", "trails", "forces", "through"]) {
    const box = find(`show-${what}`);
    if (viewer) box.checked = viewer.shown[what];
    box.addEventListener("change", () => viewer && viewer.show(what, box.checked));
  }
  find("show-forces").closest("label").hidden = !viewer || !viewer.arrows.length;
  find("show-through").closest("label").hidden = !viewer || !viewer.hasBodies;
  find("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    for (const chart of charts()) chart.draw();
    if (viewer) viewer.dirty = true;
  });
  const turns = {
    ArrowLeft: () => viewer && viewer.turn(-0.1, 0), ArrowRight: () => viewer && viewer.turn(0.1, 0),
    ArrowUp: () => viewer && viewer.turn(0, 0.1), ArrowDown: () => viewer && viewer.turn(0, -0.1),
    "+": () => viewer && viewer.zoom(0.9), "-": () => viewer && viewer.zoom(1 / 0.9), 0: () => viewer && viewer.home(),
  };
  document.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.key !== " ") return;
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    const act = keys[event.key] || turns[event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); act(); }
  });
  const resized = () => { if (viewer) { viewer.resize(); viewer.draw(); } for (const chart of charts()) chart.draw(); };
  new ResizeObserver(resized).observe(find("view"));
  new ResizeObserver(resized).observe(find("charts"));
};
