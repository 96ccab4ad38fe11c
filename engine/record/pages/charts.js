"use strict";
// Columns over the time: lines with axes, a cursor, values under the pointer, and zoom by dragging.

Denoc.COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#2E8FC0", "#6b6b6b"];
Denoc.DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

Denoc.ticks = (low, high, count) => {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough), made = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) made.push(k * step);
  return made;
};

Denoc.number = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(3) : String(Number(x.toPrecision(5))));

Denoc.Chart = class {
  // lines: [{name, values, label}]; seek is called with the time that is clicked
  constructor(home, title, quantity, t, lines, seek) {
    this.t = t; this.lines = lines; this.seek = seek; this.quantity = quantity;
    this.from = t[0]; this.to = t[t.length - 1]; this.at = t[0]; this.hidden = new Set();
    this.size = 0;
    for (const line of lines) for (const x of line.values) if (Math.abs(x) > this.size && isFinite(x)) this.size = Math.abs(x);
    this.figure = document.createElement("figure");
    const head = document.createElement("figcaption");
    head.textContent = `${title}: ${quantity} over time (s)`;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title}, ${quantity}, ${lines.length} lines from ${Denoc.number(this.from)} s to ${Denoc.number(this.to)} s`);
    this.legend = document.createElement("div");
    this.legend.className = "legend";
    this.tip = document.createElement("div");
    this.tip.className = "tip"; this.tip.hidden = true;
    this.line = document.createElement("div");
    this.line.className = "cursor";
    this.figure.append(head, this.canvas, this.line, this.tip, this.legend);
    home.append(this.figure);
    this.entries = lines.map((line, n) => this.entry(line, n));
    this.seen = true;
    new IntersectionObserver((entries) => {
      this.seen = entries[entries.length - 1].isIntersecting;
      if (this.seen) this.cursor(this.at, this.k || 0);
    }, { rootMargin: "200px" }).observe(this.figure);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("pointerdown", (event) => { this.dragged = this.time(event); this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("dblclick", () => { this.from = t[0]; this.to = t[t.length - 1]; this.draw(); });
  }

  // draws again after values have been added
  grown() {
    this.from = this.t[0]; this.to = this.t[this.t.length - 1];
    this.size = 0;
    for (const line of this.lines) for (const x of line.values) if (Math.abs(x) > this.size && isFinite(x)) this.size = Math.abs(x);
    this.draw();
    this.cursor(this.to, this.t.length - 1);
  }

  entry(line, n) {
    const button = document.createElement("button");
    button.type = "button"; button.setAttribute("aria-pressed", "true");
    button.setAttribute("aria-label", `show ${line.label}`);
    const swatch = document.createElement("span"), words = document.createElement("span"), value = document.createElement("output");
    swatch.className = "swatch";
    swatch.style.borderTopColor = Denoc.COLOURS[n % 7];
    swatch.style.borderTopStyle = ["solid", "dashed", "dotted", "dashed"][Math.floor(n / 7) % 4];
    words.textContent = line.label;
    button.append(swatch, words, value);
    button.addEventListener("click", () => {
      const off = !this.hidden.delete(n); if (off) this.hidden.add(n);
      button.setAttribute("aria-pressed", String(!off));
      this.draw();
    });
    this.legend.append(button);
    return value;
  }

  box() {
    return { left: 58, right: 18, top: 8, bottom: 22, width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  time(event) {
    const b = this.box(), x = event.offsetX - b.left;
    return this.from + Math.min(1, Math.max(0, x / (b.width - b.left - b.right))) * (this.to - this.from);
  }

  release(event) {
    const now = this.time(event), start = this.dragged;
    this.dragged = null;
    if (start === null || start === undefined) return;
    if (Math.abs(now - start) > 0.02 * (this.to - this.from)) {
      this.from = Math.min(now, start); this.to = Math.max(now, start); this.draw();
    } else this.seek(now);
  }

  whole(value) { // without what is rounding beside the largest number of the plot
    return Math.abs(value) < 1e-12 * this.size ? 0 : value;
  }

  nearest(time) {
    let low = 0, high = this.t.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (this.t[middle] <= time) low = middle; else high = middle; }
    return time - this.t[low] < this.t[high] - time ? low : high;
  }

  hover(event) {
    const k = this.nearest(this.time(event)), b = this.box();
    this.tip.replaceChildren();
    const head = document.createElement("div");
    head.textContent = `t = ${Denoc.number(this.t[k])} s`;
    this.tip.append(head);
    const ranked = this.lines.map((line, n) => [n, line]).filter(([n]) => !this.hidden.has(n));
    const y = (value) => Math.abs(this.pixel(value) - event.offsetY);
    ranked.sort(([, a], [, c]) => y(a.values[k]) - y(c.values[k]));
    for (const [n, line] of ranked.slice(0, 6)) {
      const row = document.createElement("div");
      row.textContent = `${line.label}  ${Denoc.number(this.whole(line.values[k]))}`;
      row.style.borderLeft = `3px solid ${Denoc.COLOURS[n % 7]}`;
      this.tip.append(row);
    }
    this.tip.hidden = false;
    const left = event.offsetX + 14, wide = this.tip.offsetWidth;
    this.tip.style.left = `${left + wide > b.width ? Math.max(0, event.offsetX - wide - 8) : left}px`;
    this.tip.style.top = `${this.canvas.offsetTop + Math.min(event.offsetY, b.height - 30)}px`;
  }

  pixel(value) {
    const b = this.box();
    return b.top + (this.high - value) / (this.high - this.low) * (b.height - b.top - b.bottom);
  }

  range() {
    let low = Infinity, high = -Infinity;
    const first = this.nearest(this.from), last = this.nearest(this.to);
    this.lines.forEach((line, n) => {
      if (this.hidden.has(n)) return;
      for (let k = first; k <= last; k++) { const x = line.values[k]; if (x < low) low = x; if (x > high) high = x; }
    });
    if (!(low <= high)) { low = -1; high = 1; }
    const size = this.size, sizes = low >= 0 && high > 0; // an axis of what is never negative begins at zero at the lowest
    if (high - low <= 1e-9 * size || high === low) { const reach = size || 1; low -= reach; high += reach; }
    const margin = 0.06 * (high - low);
    this.low = sizes ? Math.max(0, low - margin) : low - margin; this.high = high + margin;
    return [first, last];
  }

  draw() {
    const b = this.box(), ratio = window.devicePixelRatio || 1;
    if (!b.width) return;
    this.drawn = { ...b, above: this.canvas.offsetTop };
    this.line.style.height = `${b.height - b.top - b.bottom}px`;
    this.canvas.width = Math.round(b.width * ratio); this.canvas.height = Math.round(b.height * ratio);
    const g = this.canvas.getContext("2d"), style = getComputedStyle(this.figure);
    const ink = style.getPropertyValue("--ink"), grid = style.getPropertyValue("--grid");
    g.scale(ratio, ratio); g.clearRect(0, 0, b.width, b.height);
    const [first, last] = this.range(), wide = b.width - b.left - b.right;
    const x = (time) => b.left + (time - this.from) / (this.to - this.from || 1) * wide;
    g.font = "11px system-ui, sans-serif"; g.fillStyle = ink; g.strokeStyle = grid; g.lineWidth = 1;
    g.textAlign = "center"; g.textBaseline = "top";
    if (this.to > this.from) for (const tick of Denoc.ticks(this.from, this.to, Math.max(2, wide / 80))) {
      this.stroke(g, [[x(tick), b.top], [x(tick), b.height - b.bottom]]);
      g.fillText(Denoc.number(tick), x(tick), b.height - b.bottom + 5);
    }
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const tick of Denoc.ticks(this.low, this.high, Math.max(2, b.height / 40))) {
      this.stroke(g, [[b.left, this.pixel(tick)], [b.width - b.right, this.pixel(tick)]]);
      g.fillText(Denoc.number(tick), b.left - 5, this.pixel(tick));
    }
    g.save(); g.beginPath(); g.rect(b.left, b.top, wide, b.height - b.top - b.bottom); g.clip();
    g.lineWidth = 1.6;
    this.lines.forEach((line, n) => {
      if (this.hidden.has(n)) return;
      g.strokeStyle = Denoc.COLOURS[n % 7]; g.setLineDash(Denoc.DASHES[Math.floor(n / 7) % 4]);
      g.beginPath();
      for (let k = Math.max(0, first - 1); k <= Math.min(last + 1, this.t.length - 1); k++) {
        const px = x(this.t[k]), py = this.pixel(line.values[k]);
        if (isFinite(py)) g.lineTo(px, py);
      }
      g.stroke();
    });
    g.setLineDash([]); g.restore();
    this.cursor(this.at, this.k || 0);
  }

  // the line at the time of the animation, and the values there; what nobody sees waits until it is seen
  cursor(time, k) {
    this.at = time; this.k = k;
    if (!this.drawn || !this.seen) return;
    const b = this.drawn, share = (time - this.from) / (this.to - this.from || 1); // as drawn: asking takes a layout
    this.line.hidden = share < -1e-9 || share > 1 + 1e-9;
    this.line.style.transform = `translate(${b.left + share * (b.width - b.left - b.right)}px, ${b.above + b.top}px)`;
    this.entries.forEach((value, n) => {
      const words = Denoc.number(this.whole(this.lines[n].values[k]));
      if (value.textContent !== words) value.textContent = words;
    });
  }

  stroke(g, points) {
    g.beginPath();
    for (const [x, y] of points) g.lineTo(x, y);
    g.stroke();
  }
};
