"use strict";
// A machine's equations of motion in time: the recorded functions of denocModes, integrated by denoc's own `steps`, which
// are written out beside them.

if (typeof Denoc === "undefined") globalThis.Denoc = {};
const TOO_SMALL = 2; // the status of a run whose steps have become so

// numbers that follow the sliders: Chebyshev series of each slider alone, and of pairs of them
Denoc.Numbers = class {
  constructor(table, sliders) {
    this.table = table; this.sliders = sliders;
    this.values = sliders.map((one) => one.value);
  }

  at() {
    const made = Float64Array.from(this.table.base);
    const places = this.sliders.map((one, k) => (2 * this.values[k] - one.low - one.high) / (one.high - one.low));
    const series = places.map((x) => {
      const T = [1, x];
      for (let n = 2; n < 20; n++) T.push(2 * x * T[n - 1] - T[n - 2]);
      return T;
    });
    this.table.alone.forEach((rows, i) => {
      if (this.values[i] === this.sliders[i].value) return; // nothing to add, not even rounding
      for (const [place, c] of rows) { let sum = 0; for (let n = 0; n < c.length; n++) sum += c[n] * series[i][n]; made[place] += sum; }
    });
    for (const [i, j, rows] of this.table.together) {
      if (this.values[i] === this.sliders[i].value || this.values[j] === this.sliders[j].value) continue;
      for (const [place, c] of rows) {
        const width = Math.round(Math.sqrt(c.length));
        let sum = 0;
        for (let n = 0; n < c.length; n++) sum += c[n] * series[i][Math.floor(n / width)] * series[j][n % width];
        made[place] += sum;
      }
    }
    return made;
  }
};

Denoc.Simulation = class {
  constructor(data) {
    this.data = data;
    this.numbers = new Denoc.Numbers(data.table, data.sliders);
    this.m = data.y.length; this.n = data.measured; // the last two of y are work and losses
    this.u = data.signals.map((one) => { const u = new Float64Array(one.length + data.used.length); u.set(one); return u; });
    this.mode = this.set = 0;
    const { stages, further } = data.solver;
    this.K = Array.from({ length: stages + further }, () => new Float64Array(this.m));
    this.dense = this.K.map((row) => Float64Array.from(row)); // the stages of the last step
    this.guard = new Float64Array(1);
    this.rowLength = this.n + data.names.coordinates.length + 2 * data.names.speeds.length + 3 + 12 * data.links.length;
    this.row = new Float64Array(this.rowLength);
    this.trial = new Float64Array(this.m); this.next = new Float64Array(this.m); this.between = new Float64Array(this.m);
    this.reset();
  }

  // takes the laws of another set of modes
  choose(set) {
    this.set = set;
    this.mode = this.earlier = this.data.sets[set].first;
    this.fresh = true;
    if (this.data.closes) this.best();
  }

  // the mode of the set in whose coordinates the present state is best
  best() {
    const { first, count } = this.data.sets[this.set];
    let best = this.mode, most = -Infinity;
    for (let mode = first; mode < first + count; mode++) {
      this.mode = mode;
      this.rate(this.t, this.y, this.trial);
      if (this.guard[0] > most) { best = mode; most = this.guard[0]; }
    }
    this.mode = this.earlier = best;
  }

  // the state at the start, closed for the present numbers
  reset() {
    this.t = this.told = this.data.start;
    this.mode = this.earlier = this.data.sets[this.set].first;
    this.y = Float64Array.from(this.data.y); this.yold = Float64Array.from(this.y);
    this.renew();
    if (this.numbers.values.some((x, k) => x !== this.data.sliders[k].value)) this.close(20);
    this.begin();
  }

  // takes the numbers of the sliders
  renew() {
    const all = this.numbers.at();
    this.all = all;
    this.u.forEach((u, mode) => this.data.used.forEach((place, k) => { u[this.data.signals[mode].length + k] = all[place]; }));
    this.fresh = true;
  }

  begin() {
    this.h = 0; this.ended = ""; this.steps = 0; this.rejected = 0; this.evaluations = 0; this.fresh = true;
    this.energy0 = null;
  }

  signals(t) {
    const { pieces, timed } = this.data.sets[this.set];
    if (!timed) return;
    const starts = pieces.starts;
    let low = 0, high = starts.length - 1;
    while (high > low) { const k = (low + high + 1) >> 1; if (starts[k] <= t) low = k; else high = k - 1; }
    const [middle, scale] = pieces.middles[low], x = (t - middle) * scale;
    pieces.coefficients[low].forEach((group, g) => {
      for (let lane = 0; lane < group[0].length; lane++) {
        const column = pieces.columns[g * group[0].length + lane];
        if (column >= this.data.signals[this.mode].length) continue;
        let value = 0;
        for (let n = group.length - 1; n >= 0; n--) value = value * x + group[n][lane];
        this.u[this.mode][column] = value;
      }
    });
  }

  rate(t, y, out) { this.signals(t); this.evaluations++; denocModes[this.mode].rate(this.u[this.mode], y, out, this.guard); }

  // closes the state of a mechanism, so often; a tree's is as it is
  close(times) {
    for (let k = 0; k < times && this.data.closes; k++) {
      this.signals(this.t);
      denocModes[this.mode].row(this.u[this.mode], this.y, this.row);
      this.gap = 0; // how far the last round has moved: not at all, where the loops close
      for (let i = 0; i < this.n; i++) { const moved = Math.abs(this.row[i] - this.y[i]) / (1 + Math.abs(this.y[i])); if (!(moved <= this.gap)) this.gap = moved; }
      this.y.set(this.row.subarray(0, this.n));
    }
    this.normalise(this.y);
    this.fresh = true;
  }

  normalise(y) {
    for (const first of this.data.units) {
      let size = 0;
      for (let k = 0; k < 4; k++) size += y[first + k] ** 2;
      size = Math.sqrt(size);
      for (let k = 0; k < 4; k++) y[first + k] /= size;
    }
  }

  rms(of) {
    let sum = 0;
    for (let k = 0; k < this.n; k++) { const x = of(k); sum += x * x; }
    return Math.sqrt(sum) / Math.sqrt(this.n);
  }

  // the length of the first step (Hairer, Norsett, Wanner, section II.4)
  first(rest) {
    const { rtol, atol, exponent } = this.data.solver, f = this.K[0], y = this.y, longest = Math.min(rest, this.data.solver.maxStep || Infinity);
    const scale = (k) => atol + Math.abs(y[k]) * rtol;
    const d0 = this.rms((k) => y[k] / scale(k)), d1 = this.rms((k) => f[k] / scale(k));
    if (!isFinite(d0) || !isFinite(d1)) return longest;
    const h0 = Math.min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, rest);
    for (let k = 0; k < this.m; k++) this.trial[k] = y[k] + h0 * f[k];
    this.rate(this.t + h0, this.trial, this.next);
    const d2 = this.rms((k) => (this.next[k] - f[k]) / scale(k)) / h0, steepest = Math.max(d1, d2);
    const h1 = steepest > 1e-15 ? (0.01 / steepest) ** -exponent : Math.max(1e-6, h0 * 1e-3);
    return Math.min(100 * h0, h1, longest);
  }

  // one step towards the end; false if none can be taken
  step(end) {
    const { stages, rtol, atol, maxStep, step } = this.data.solver, K = this.K, y = this.y, longest = maxStep || Infinity;
    if (this.fresh) { this.rate(this.t, y, K[0]); this.fresh = false; }
    let h = this.h || step || this.first(end - this.t), most = 0, fresh = 1, status = 0, t = this.t, taken = 0, refused = 0;
    this.yold.set(y); this.dense[0].set(K[0]);
    while (!taken && !status) {
      [t, h, most, fresh, taken, refused, , status] = steps.advance(this, K, y, this.trial, this.next, [Infinity], [], 1, end, rtol, atol, longest, t, h, most, fresh, 0);
      this.rejected += refused;
    }
    if (status === TOO_SMALL) {
      const finite = K.slice(0, stages - 1).every((row) => row.every(isFinite));
      this.ended = finite ? "The steps have become too short." : "The numbers have grown without bound.";
      return false;
    }
    this.told = this.t; this.span = Math.min(this.t + h, end) - this.t;
    if (taken) { this.span = t - this.t; this.h = step || h; } else y.set(this.next);
    this.t = this.told + this.span; this.earlier = this.mode;
    for (let k = 1; k < stages; k++) this.dense[k].set(K[k]);
    steps.further(this, this.dense, this.yold, this.trial, this.told, this.span);
    if (!taken) return this.otherwise();
    if (!y.every(isFinite)) { this.ended = "The numbers have grown without bound."; return false; }
    if (step) this.close(1);
    this.steps++;
    return true;
  }

  // where the independent coordinates become unusable within a step to t: on with others from just there
  otherwise() {
    const t = this.t;
    let low = this.told, high = t;
    const guarded = (at) => { this.rate(at, Float64Array.from(this.state(at)), this.trial); return this.guard[0]; };
    for (let k = 0; k < 200 && high - low > 2 * Number.EPSILON * Math.abs(high); k++) {
      const middle = low + (high - low) / 2;
      this.t = t;
      if (guarded(middle) > 0) low = middle; else high = middle;
    }
    this.y.set(this.state(high)); this.t = high;
    this.close(3);
    const before = this.earlier = this.mode;
    let best = -1, most = 0;
    const { first, count } = this.data.sets[this.set];
    for (let k = 1; k < count; k++) { // the one that comes next in the undisturbed run, if it serves, is the best
      this.mode = first + (before - first + k) % count;
      this.rate(this.t, this.y, this.trial);
      if (this.guard[0] > most * 2) { best = this.mode; most = this.guard[0]; }
    }
    this.mode = best < 0 ? before : best;
    this.fresh = true; this.h = 0;
    if (best < 0) this.ended = "This page's coordinates don't serve beyond here: the machine comes near a singular position.";
    return best >= 0;
  }

  advance(end) {
    while (this.t < end && !this.ended) this.step(this.data.solver.lands ? end : Infinity);
    return !this.ended;
  }

  // the state at an instant within the last step, by dense output
  state(t) {
    const out = this.between;
    if (t >= this.t || this.told === this.t || this.data.solver.lands) { out.set(this.y); return out; }
    steps.between((t - this.told) / this.span, this.span, this.yold, this.dense, out);
    this.normalise(out);
    return out;
  }

  // all quantities at an instant within the last step
  rowAt(t) {
    const y = this.state(t), { coordinates, speeds } = this.data.names, mode = this.mode;
    if (t < this.t) this.mode = this.earlier; // a row of the step before
    this.signals(t);
    denocModes[this.mode].row(this.u[this.mode], y, this.row);
    this.mode = mode;
    const n = this.n, nq = coordinates.length, nv = speeds.length, row = this.row;
    const [kinetic, potential, elastic] = row.subarray(n + nq + 2 * nv, n + nq + 2 * nv + 3);
    const total = kinetic + potential + elastic, work = y[this.n], loss = y[this.n + 1];
    if (this.energy0 === null) this.energy0 = total - work + loss;
    return {
      t, q: row.subarray(n, n + nq), qd: row.subarray(n + nq, n + nq + nv), tau: row.subarray(n + nq + nv, n + nq + 2 * nv),
      kinetic, potential, elastic, total, residual: total - work + loss - this.energy0,
      places: row.subarray(n + nq + 2 * nv + 3),
    };
  }

  // rows over instants, for whoever compares them
  run(times) {
    const rows = [];
    for (const t of times) {
      while (this.t < t && !this.ended) this.step(this.data.solver.lands ? t : times[times.length - 1]);
      if (this.ended) break;
      const row = this.rowAt(t);
      rows.push([...row.q, ...row.qd, row.total, row.residual]);
    }
    return rows;
  }

  // puts a joint's coordinate somewhere else; the machine stands still there, with its loops closed
  put(place, value) {
    this.y[place] = value;
    for (let k = this.data.stateCoordinates.length; k < this.n; k++) this.y[k] = 0;
    this.close(20);
    this.told = this.t; this.yold.set(this.y);
    if (this.data.closes) this.best();
    this.h = 0; this.ended = ""; this.energy0 = null;
    this.y[this.n] = this.y[this.n + 1] = 0;
  }
};
if (typeof module !== "undefined") module.exports = Denoc;
