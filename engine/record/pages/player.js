"use strict";
// A result in motion: the machine, its controls, and its plots, one family at a time or all of them.

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { find } = Denoc;
  const t = Denoc.numbers(data.t), table = {};
  for (const [name, text] of Object.entries(data.table)) table[name] = Denoc.numbers(text);
  const first = t[0], span = t[t.length - 1] - first;
  const viewer = Denoc.viewed(() => {
    const made = new Denoc.Viewer(find("view"), find("names"), data.scene, Denoc.numbers(data.poses), t.length);
    made.addArrows(data.arrows.map((row) => ({ ...row, values: row.columns.map((name) => table[name]) })));
    return made;
  });
  let now = first, frame = 0, playing = false, speed = 1, before = 0;
  const charts = [];

  function index(time) { // the last row that isn't later
    let low = 0, high = t.length - 1;
    while (high > low) { const middle = (low + high + 1) >> 1; if (t[middle] <= time) low = middle; else high = middle - 1; }
    return low;
  }

  function show() {
    frame = index(now);
    const next = Math.min(frame + 1, t.length - 1), gap = t[next] - t[frame];
    if (viewer) viewer.place(frame, gap > 0 ? (now - t[frame]) / gap : 0);
    for (const chart of charts) chart.cursor(now, frame);
    find("time").value = String(span > 0 ? Math.round((now - first) / span * 10000) : 0);
    find("time").setAttribute("aria-valuetext", `${Denoc.number(now)} seconds`);
    find("clock").textContent = `${now.toFixed(3)} s`;
  }

  function seek(time) { now = Math.min(first + span, Math.max(first, time)); show(); }
  function seekFrame(k) { seek(t[Math.min(t.length - 1, Math.max(0, k))]); }

  function play(wanted) {
    playing = wanted && span > 0;
    if (playing && now >= first + span) now = first;
    before = performance.now();
    find("play").textContent = playing ? "Pause" : "Play";
    find("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  function tick(stamp) {
    if (playing) {
      now += Math.max(0, stamp - before) / 1000 * speed;
      before = stamp;
      if (now > first + span) {
        if (find("loop").checked) now = first + (now - first) % span; else { now = first + span; play(false); }
      }
      show();
    }
    if (viewer) viewer.draw();
    requestAnimationFrame(tick);
  }

  // ---- plots: where the page has a choice, the family that is chosen; else all of them

  function drawn(home, row) {
    return row.panels.map((panel) => {
      const lines = panel.columns.map(([name, label]) => ({ name, label, values: table[name] }));
      return new Denoc.Chart(home, row.title, panel.quantity, t, lines, seek);
    });
  }

  function plots(families) {
    for (const chart of charts.splice(0)) chart.figure.remove();
    for (const name of families) if (data.families[name]) charts.push(...drawn(find("charts"), data.families[name]));
    for (const chart of charts) chart.draw();
    show();
  }

  const choice = find("family");
  if (choice) {
    for (const [name, row] of Object.entries(data.families)) {
      const option = document.createElement("option");
      option.value = name; option.textContent = row.title;
      choice.append(option);
    }
    choice.value = data.family;
    choice.addEventListener("change", () => plots([choice.value]));
  }

  // ---- controls

  find("play").addEventListener("click", () => play(!playing));
  find("time").addEventListener("input", (event) => { play(false); seek(first + Number(event.target.value) / 10000 * span); });
  find("speed").addEventListener("change", (event) => { speed = Number(event.target.value); });
  find("back").addEventListener("click", () => { play(false); seekFrame(frame - 1); });
  find("forth").addEventListener("click", () => { play(false); seekFrame(index(now) + 1); });
  Denoc.stage(viewer, () => charts, {
    " ": () => play(!playing),
    ",": () => { play(false); seekFrame(frame - 1); }, ".": () => { play(false); seekFrame(index(now) + 1); },
    Home: () => { play(false); seek(first); }, End: () => { play(false); seek(first + span); },
  });

  plots(choice ? [choice.value] : Object.keys(data.families));
  seek(first);
  requestAnimationFrame(tick);

  // what a program may ask and do: a check of the page reads places and columns frame by frame
  window.denoc = {
    frames: t.length, viewer,
    seek: seekFrame,
    play: () => play(true),
    pause: () => play(false),
    draw: () => { if (viewer) { viewer.dirty = true; viewer.draw(); } },
    state: () => ({
      frame, t: t[frame], playing,
      columns: Object.fromEntries(Object.entries(table).map(([name, values]) => [name, values[frame]])),
      joints: viewer ? viewer.origins() : {}, links: viewer ? viewer.places() : {}, bodies: viewer ? viewer.bodies() : {},
    }),
  };
})();
