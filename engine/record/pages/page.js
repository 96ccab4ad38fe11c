"use strict";
// A page in which a machine runs: its controls, its sliders, and plots that grow.

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { find } = Denoc, MOST = 4000;
  const simulation = new Denoc.Simulation(data);
  let running = false, now = data.start, speed = 1, before = 0, set = 0, held = null;

  // ---- the machine

  const poses = new Float64Array(7 * data.scene.parts.length);
  data.scene.parts.forEach((_, k) => { poses[7 * k + 6] = 1; });
  const viewer = Denoc.viewed(() => {
    const made = new Denoc.Viewer(find("view"), find("names"), data.scene, poses, 1);
    made.live(data.links, 1500);
    made.placed(simulation.rowAt(simulation.t).places);
    made.lookAtPlaces(data.links, reach());
    return made;
  });

  // a second of the motion, so that the view has room for it
  function reach() {
    const all = [];
    for (let k = 0; k <= 20; k++) {
      if (!simulation.advance(data.start + k / 20 * Math.min(1, data.end - data.start))) break;
      all.push(Float64Array.from(simulation.rowAt(simulation.t).places));
    }
    simulation.reset();
    return all;
  }

  // ---- plots: the columns of a family, and rows that have been computed

  const rows = { t: [], values: [] };
  const named = (names, kinds, kind) => names.map((name, k) => [k, name]).filter(([k]) => kinds[k] === kind);
  const families = [];
  const { coordinates, speeds, forces } = data.names;
  for (const [kind, quantity] of [["angle", "angle (rad)"], ["length", "position (m)"], ["number", "Euler parameters"]]) {
    const lines = named(coordinates, data.kinds, kind);
    if (lines.length) families.push({ title: "Joint positions", quantity, lines: lines.map(([k, name]) => [name, (row) => row.q[k]]) });
  }
  families.push({ title: "Joint speeds", quantity: "rad/s, m/s", lines: speeds.map((name, k) => [name, (row) => row.qd[k]]) });
  families.push({ title: "Joint forces", quantity: "N m, N", lines: forces.map((name, k) => [name, (row) => row.tau[k]]) });
  const energies = ["kinetic", "potential", "elastic", "total", "residual"];
  families.push({ title: "Energy", quantity: "J", lines: energies.map((name) => [name, (row) => row[name]]) });
  let chart = null, family = families[0];
  families.forEach((one, k) => {
    const option = document.createElement("option");
    option.value = String(k); option.textContent = `${one.title}: ${one.quantity}`;
    find("family").append(option);
  });
  find("family").addEventListener("change", (event) => { family = families[Number(event.target.value)]; clear(); });

  function clear() {
    if (chart) chart.figure.remove();
    rows.t = []; rows.values = family.lines.map(() => []);
    note(simulation.rowAt(simulation.t));
    const lines = family.lines.map(([name], k) => ({ name, label: name, values: rows.values[k] }));
    chart = new Denoc.Chart(find("charts"), family.title, family.quantity, rows.t, lines, () => {});
    chart.grown();
  }

  function note(row) {
    if (rows.t.length >= MOST) { // every other row is enough from here on
      rows.t.splice(0, rows.t.length, ...rows.t.filter((_, k) => k % 2 === 0));
      for (const line of rows.values) line.splice(0, line.length, ...line.filter((_, k) => k % 2 === 0));
    }
    rows.t.push(row.t);
    family.lines.forEach(([, value], k) => rows.values[k].push(value(row)));
  }

  // ---- time

  function show() {
    const row = simulation.rowAt(now);
    if (viewer) viewer.placed(row.places);
    find("clock").textContent = `${now.toFixed(3)} s`;
    find("audit").textContent = `Energy ${Denoc.number(row.total)} J, off by ${row.residual ? row.residual.toExponential(1) : 0} J; ${simulation.steps} steps, ${simulation.evaluations} evaluations`;
    return row;
  }

  function run(wanted) {
    running = wanted && !simulation.ended;
    before = performance.now();
    find("play").textContent = running ? "Stop" : "Run";
    find("play").setAttribute("aria-label", running ? "Stop" : "Run");
  }

  function reset() {
    run(false);
    simulation.reset();
    now = data.start;
    find("said").textContent = "";
    if (viewer) viewer.forget();
    clear(); show();
  }

  let frames = 0;
  function tick(stamp) {
    if (running && !held) {
      const until = Math.min(now + Math.min(0.1, Math.max(0, stamp - before) / 1000) * speed, data.sets[set].timed ? data.end : Infinity);
      before = stamp;
      for (const step = speed / 60; until - now > 1.5 * step && simulation.advance(now + step);) { // rows between slow frames
        now += step;
        note(simulation.rowAt(now));
      }
      now = until;
      simulation.advance(now);
      if (simulation.ended) { now = simulation.t; find("said").textContent = simulation.ended; run(false); }
      if (data.sets[set].timed && now >= data.end) { find("said").textContent = "The laws in time end here."; run(false); }
      note(show());
      if (++frames % 6 === 0 || !running) chart.grown();
    }
    if (viewer) viewer.draw();
    requestAnimationFrame(tick);
  }

  // ---- sliders and settings

  const inputs = data.sliders.map((one, k) => {
    const label = document.createElement("label"), words = document.createElement("span"), value = document.createElement("output");
    const input = document.createElement("input");
    words.textContent = one.words; label.title = one.key;
    input.type = "range"; input.min = "0"; input.max = "1000";
    const place = (x) => Math.round((x - one.low) / (one.high - one.low) * 1000);
    const set = (x, moved) => {
      simulation.numbers.values[k] = x;
      value.textContent = `${Denoc.number(x)} ${one.unit}`.trim();
      if (!moved) input.value = String(place(x));
    };
    input.addEventListener("input", () => { set(one.low + input.value / 1000 * (one.high - one.low), true); renewed(); });
    input.addEventListener("dblclick", () => { set(one.value); renewed(); });
    label.append(words, value, input);
    find("sliders").append(label);
    return { set, key: one.key };
  });

  function renewed() {
    simulation.renew();
    if (data.closes) simulation.close(10);
    simulation.energy0 = null; simulation.h = 0; simulation.ended = "";
    simulation.y[simulation.n] = simulation.y[simulation.n + 1] = 0;
    if (data.closes && simulation.gap > 1e-6) { simulation.ended = "The loops don't close with these numbers."; run(false); }
    find("said").textContent = simulation.ended;
    if (viewer) viewer.rebuilt(scene());
    simulation.told = simulation.t; now = simulation.t;
    show();
  }

  // the scene with the numbers that follow the sliders
  function scene() {
    let k = data.sceneFirst;
    const walk = (x) => {
      if (typeof x === "number") return simulation.all[k++];
      if (Array.isArray(x)) return x.map(walk);
      if (x && typeof x === "object") return Object.fromEntries(Object.entries(x).map(([key, value]) => [key, walk(value)]));
      return x;
    };
    return data.sceneMoves ? walk(data.scene) : null;
  }

  function settings() {
    const parts = data.sliders.map((one, k) => [one, simulation.numbers.values[k]]).filter(([one, x]) => x !== one.value)
      .map(([one, x]) => `${encodeURIComponent(one.key)}=${x}`);
    if (speed !== 1) parts.push(`speed=${speed}`);
    if (set) parts.push(`laws=${set}`);
    return parts.join("&");
  }

  function restore() {
    const given = new URLSearchParams(location.hash.slice(1));
    data.sliders.forEach((one, k) => {
      const x = Number(given.get(one.key) ?? NaN);
      inputs[k].set(isFinite(x) ? Math.min(one.high, Math.max(one.low, x)) : one.value);
    });
    const wanted = Number(given.get("speed"));
    if ([...find("speed").options].some((option) => Number(option.value) === wanted)) { speed = wanted; find("speed").value = String(wanted); }
    lawsOf(Number(given.get("laws")) || 0);
    renewed(); reset();
  }

  // ---- laws

  function lawsOf(k) {
    set = k >= 0 && k < data.sets.length ? k : 0;
    find("laws").value = String(set);
    simulation.choose(set);
  }
  data.sets.forEach((one, k) => {
    const option = document.createElement("option");
    option.value = String(k); option.textContent = one.title;
    find("laws").append(option);
  });
  find("laws-label").hidden = data.sets.length < 2;

  // ---- controls

  find("play").addEventListener("click", () => run(!running));
  find("reset").addEventListener("click", reset);
  find("speed").addEventListener("change", (event) => { speed = Number(event.target.value); });
  find("laws").addEventListener("change", (event) => { lawsOf(Number(event.target.value)); renewed(); });
  find("link").addEventListener("click", () => {
    location.hash = settings();
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(() => { find("said").textContent = "The link is on the clipboard."; }, () => {});
    find("said").textContent = "The link in the address bar holds these settings.";
  });
  Denoc.stage(viewer, () => (chart ? [chart] : []), { " ": () => run(!running), r: reset, R: reset });

  // ---- a joint dragged by the mouse

  function movable(part) { // the nearest joint towards the base that the state has, and that moves by itself
    for (let name = part; name && name !== "base";) {
      const joint = data.scene.joints.find((one) => !one.cut && one.between[1] === name);
      if (!joint) return null;
      const place = data.movable[simulation.mode][joint.name];
      if (place !== undefined) return { joint, place };
      name = joint.between[0];
    }
    return null;
  }
  if (viewer) {
    const canvas = find("view");
    canvas.addEventListener("pointerdown", (event) => {
      const part = viewer.picked(event), found = part && movable(part);
      if (!found) return;
      viewer.controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
      held = { ...found, from: viewer.along(found.joint, event), value: simulation.y[found.place] };
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const at = viewer.along(held.joint, event);
      if (at === null || held.from === null) return;
      let moved = at - held.from;
      if (held.joint.type === "revolute") moved = Math.atan2(Math.sin(moved), Math.cos(moved));
      held.value += moved;
      simulation.put(held.place, held.value);
      show();
      held.from = viewer.along(held.joint, event);
      find("said").textContent = simulation.ended;
    });
    const leave = () => { if (held) { held = null; viewer.controls.enabled = true; before = performance.now(); viewer.forget(); clear(); show(); } };
    canvas.addEventListener("pointerup", leave);
    canvas.addEventListener("pointercancel", leave);
  }

  clear();
  restore();
  requestAnimationFrame(tick);

  // what a program may ask and do, such as a check of the numbers
  window.denoc = {
    viewer, run: () => run(true), stop: () => run(false), reset,
    set: (key, value) => { inputs.find((one) => one.key === key).set(value); renewed(); reset(); },
    rows: (times) => { const other = new Denoc.Simulation(data); other.numbers.values = [...simulation.numbers.values]; other.choose(set); other.reset(); return { rows: other.run(times), ended: other.ended }; },
    speed: (count) => { // nanoseconds an evaluation
      const y = Float64Array.from(simulation.y), out = new Float64Array(simulation.m), guard = new Float64Array(1), u = simulation.u[simulation.mode];
      const rate = denocModes[simulation.mode].rate;
      const timed = (n) => { const start = performance.now(); for (let k = 0; k < n; k++) { y[0] += 1e-9; rate(u, y, out, guard); } return (performance.now() - start) / n * 1e6; };
      timed(20000);
      return timed(count);
    },
    state: () => ({ t: now, running, ended: simulation.ended, q: [...simulation.rowAt(now).q], rows: rows.t.length, settings: settings(), places: viewer ? viewer.places() : {}, bodies: viewer ? viewer.bodies() : {} }),
  };
})();
