// Plots on a canvas: lines and dots over linear or logarithmic axes, with a zoom that many plots may share.

/** The range of x that linked plots show, and where the pointer is. */
class Link {
  constructor() {
    this.range = null; // [from, to], or null for everything
    this.hover = null; // x under the pointer
    this.plots = new Set();
    this.listeners = new Set();
  }
  zoom(range) {
    this.range = range;
    this.refresh();
    for (const listener of this.listeners) listener(range);
  }
  point(x) {
    this.hover = x;
    this.refresh();
  }
  refresh() {
    for (const plot of this.plots) Frame.draw(plot);
  }
}

/** Round numbers between two others, about `count` of them, `least` apart. */
function ticks(low, high, count, least = 0) {
  const raw = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw));
  const near = [1, 2, 5, 10].map((k) => k * power).reduce((a, b) => (Math.abs(Math.log(b / raw)) < Math.abs(Math.log(a / raw)) ? b : a));
  const step = Math.max(near, least);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(k * step);
  return out;
}

/** Powers of ten between two numbers, and where those are few, their 2 and 5 fold. */
function decades(low, high, room) {
  const out = [], from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  const sparse = Math.max(1, Math.ceil((to - from) / room));
  const span = Math.log10(high / low), folds = span < 1.7 ? [1, 2, 5] : span < 2.7 ? [1, 3] : [1];
  for (let power = from; power <= to; power += sparse)
    for (const fold of folds) {
      const value = fold * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) out.push(value);
    }
  return out;
}

function tickText(value, step, log) {
  if (log) {
    const power = Math.round(Math.log10(value));
    return value >= 0.001 && value < 1e4 ? String(Number(value.toPrecision(3))) : `${value / 10 ** Math.floor(Math.log10(value) + 1e-9) > 1.5 ? `${Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9))}·` : ""}10${superscript(Math.floor(Math.log10(value) + 1e-9))}`;
  }
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Math.abs(value) < 1e-9 * step ? "0" : value.toFixed(Math.min(9, places)).replace("-", "−");
}

function superscript(power) {
  return [...String(power)].map((letter) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[letter] ?? "⁻").join("");
}

/** The first index whose x is at least `value`. */
function lowerBound(x, value) {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * One plot. options: label, height, x and y {label, log, range, symmetric}, link, lines [{name, colour, x, y, dots, width, dash, hidden, alpha}].
 * Dragging selects a range of x, a double click or the key 0 shows everything, + and - zoom.
 */
class Plot extends Canvas {
  constructor(options) {
    super(options.label, options.height ?? 180);
    Object.assign(this, { x: {}, y: {}, lines: [], link: new Link() }, options);
    this.link.plots.add(this);
    this.listen();
  }

  remove() {
    super.remove();
    this.link.plots.delete(this);
  }

  shown() {
    return this.lines.filter((line) => !line.hidden);
  }

  /** All of x, with a little air around a cloud of dots. */
  whole() {
    if (this.x.range) return this.x.range;
    let low = Infinity, high = -Infinity;
    for (const line of this.shown())
      for (const value of line.dots || line.x.length < 300 ? line.x : [line.x[0], line.x[line.x.length - 1]])
        if (Number.isFinite(value) && (!this.x.log || value > 0)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
    return padded(low, high, this.x, this.cloud ? 0.06 : 0);
  }

  /** The range of y that what is visible needs. */
  heightRange(from, to) {
    if (this.y.range) return this.y.range;
    let low = Infinity, high = -Infinity;
    for (const line of this.shown()) {
      const sorted = !this.cloud, start = sorted ? Math.max(0, lowerBound(line.x, from) - 1) : 0;
      const stop = sorted ? Math.min(line.x.length, lowerBound(line.x, to) + 1) : line.x.length;
      for (let i = start; i < stop; i++) {
        const value = line.y[i];
        if (!Number.isFinite(value) || (this.y.log && value <= 0)) continue;
        if (this.cloud && (line.x[i] < from || line.x[i] > to)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return padded(low, high, this.y, 0.06);
  }

  scales(context) {
    const [x0, x1] = this.link.range ?? this.whole(), [y0, y1] = this.heightRange(x0, x1);
    const fx = this.x.log ? Math.log10 : (v) => v, fy = this.y.log ? Math.log10 : (v) => v;
    const top = 8, bottom = this.height - (this.x.label ? 34 : 20);
    const rows = Math.max(2, Math.floor((bottom - top) / 34));
    const yTicks = this.y.names ? this.y.names.map((_, k) => k) : this.y.log ? decades(y0, y1, rows) : ticks(y0, y1, rows);
    const yStep = yTicks.length > 1 ? yTicks[1] - yTicks[0] : 1;
    const yTexts = this.y.names ?? yTicks.map((v) => tickText(v, yStep, this.y.log));
    const left = Math.max(30, ...yTexts.map((text) => context.measureText(text).width + 8)) + (this.y.label ? 14 : 0);
    const right = this.width - 10;
    const xTicks = this.x.log ? decades(x0, x1, Math.floor((right - left) / 50)) : ticks(x0, x1, Math.max(2, Math.floor((right - left) / 70)), this.x.least);
    const xStep = xTicks.length > 1 ? xTicks[1] - xTicks[0] : 1;
    const a = (right - left) / (fx(x1) - fx(x0)), b = (bottom - top) / (fy(y1) - fy(y0));
    return {
      left, right, top, bottom, x0, x1, y0, y1, xTicks, yTicks, yTexts,
      xTexts: xTicks.map((v) => tickText(v, xStep, this.x.log)),
      px: (v) => left + a * (fx(v) - fx(x0)),
      py: (v) => bottom - b * (fy(v) - fy(y0)),
      vx: (p) => { const v = fx(x0) + (p - left) / a; return this.x.log ? 10 ** v : v; },
    };
  }

  paint() {
    const context = this.begin();
    if (!context) return;
    context.font = "11px system-ui, sans-serif";
    const view = (this.view = this.scales(context));
    this.frame(context, view);
    context.save();
    context.beginPath();
    context.rect(view.left, view.top - 1, view.right - view.left, view.bottom - view.top + 2);
    context.clip();
    for (const line of this.shown()) line.dots ? this.dots(context, view, line) : this.stroke(context, view, line);
    context.restore();
    this.pointer(context, view);
    this.done();
  }

  frame(context, view) {
    const ink = colour("muted"), grid = colour("grid");
    context.lineWidth = 1;
    context.strokeStyle = grid;
    context.beginPath();
    for (const v of view.xTicks) { const p = Math.round(view.px(v)) + 0.5; context.moveTo(p, view.top); context.lineTo(p, view.bottom); }
    for (const v of view.yTicks) { const p = Math.round(view.py(v)) + 0.5; context.moveTo(view.left, p); context.lineTo(view.right, p); }
    context.stroke();
    if (!this.y.log && view.y0 < 0 && view.y1 > 0) {
      context.strokeStyle = colour("axis");
      context.beginPath();
      context.moveTo(view.left, Math.round(view.py(0)) + 0.5);
      context.lineTo(view.right, Math.round(view.py(0)) + 0.5);
      context.stroke();
    }
    context.fillStyle = ink;
    context.textBaseline = "middle";
    context.textAlign = "right";
    view.yTicks.forEach((v, i) => context.fillText(view.yTexts[i], view.left - 5, view.py(v)));
    context.textBaseline = "top";
    context.textAlign = "center";
    view.xTicks.forEach((_, i) => {
      if (this.x.unit && i === view.xTicks.length - 1) view.xTexts[i] += ` ${this.x.unit}`;
    });
    view.xTicks.forEach((v, i) => {
      const half = context.measureText(view.xTexts[i]).width / 2;
      context.fillText(view.xTexts[i], Math.min(Math.max(view.px(v), view.left), this.width - half - 1), view.bottom + 5);
    });
    if (this.x.label) context.fillText(this.x.label, (view.left + view.right) / 2, view.bottom + 19);
    if (this.y.label) {
      context.save();
      context.translate(2, (view.top + view.bottom) / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(this.y.label, 0, 0);
      context.restore();
    }
  }

  stroke(context, view, line) {
    const { x, y } = line, start = Math.max(0, lowerBound(x, view.x0) - 1), stop = Math.min(x.length, lowerBound(x, view.x1) + 2);
    context.strokeStyle = context.fillStyle = colour(line.colour);
    context.lineWidth = line.width ?? 1.3;
    context.setLineDash(line.dash ?? []);
    context.globalAlpha = line.alpha ?? 1;
    context.lineJoin = "round";
    context.beginPath();
    const dense = stop - start > 2.5 * (view.right - view.left);
    dense ? this.envelope(context, view, line, start, stop) : this.polyline(context, view, line, start, stop);
    context.stroke();
    context.setLineDash([]);
    if (line.marks)
      for (let i = start; i < stop; i++) {
        if (!Number.isFinite(y[i])) continue;
        context.beginPath();
        context.arc(view.px(x[i]), view.py(y[i]), 2.5, 0, 7);
        context.fill();
      }
    context.globalAlpha = 1;
  }

  polyline(context, view, line, start, stop) {
    let pen = false;
    for (let i = start; i < stop; i++) {
      const v = line.y[i];
      if (!Number.isFinite(v) || (this.y.log && v <= 0)) { pen = false; continue; }
      pen ? context.lineTo(view.px(line.x[i]), view.py(v)) : context.moveTo(view.px(line.x[i]), view.py(v));
      pen = true;
    }
  }

  /** Many samples per pixel: first, least, most and last of every column, which looks the same. */
  envelope(context, view, line, start, stop) {
    let column = NaN, first = 0, least = 0, most = 0, last = 0, pen = false;
    const flush = () => {
      if (Number.isNaN(column)) return;
      for (const v of [first, least, most, last]) { pen ? context.lineTo(column, view.py(v)) : context.moveTo(column, view.py(v)); pen = true; }
    };
    for (let i = start; i < stop; i++) {
      const v = line.y[i], p = Math.round(view.px(line.x[i]));
      if (!Number.isFinite(v)) continue;
      if (p !== column) { flush(); column = p; first = least = most = v; }
      if (v < least) least = v;
      if (v > most) most = v;
      last = v;
    }
    flush();
  }

  dots(context, view, line) {
    context.fillStyle = colour(line.colour);
    context.globalAlpha = line.alpha ?? 0.6;
    const size = line.size ?? 1.6;
    for (let i = 0; i < line.x.length; i++) context.fillRect(view.px(line.x[i]) - size / 2, view.py(line.y[i]) - size / 2, size, size);
    context.globalAlpha = 1;
  }

  /** The selection being dragged, and the values under the pointer. */
  pointer(context, view) {
    if (this.drag) {
      context.fillStyle = colour("select");
      const [a, b] = [this.drag[0], this.drag[1]].sort((p, q) => p - q);
      context.fillRect(a, view.top, b - a, view.bottom - view.top);
    }
    const at = this.link.hover;
    if (at === null || this.cloud || at < view.x0 || at > view.x1) { this.read?.(null); return; }
    context.strokeStyle = colour("muted");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(view.px(at)) + 0.5, view.top);
    context.lineTo(Math.round(view.px(at)) + 0.5, view.bottom);
    context.stroke();
    this.read?.(at, this.shown().map((line) => ({ line, value: line.y[Math.min(line.x.length - 1, lowerBound(line.x, at))] })));
  }

  listen() {
    const { canvas, link } = this;
    const inside = (event) => Math.min(Math.max(event.offsetX, this.view?.left ?? 0), this.view?.right ?? 0);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button || !this.view) return;
      this.drag = [inside(event), inside(event)];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.view) return;
      if (this.drag) this.drag[1] = inside(event);
      link.point(this.view.vx(inside(event)));
    });
    canvas.addEventListener("pointerup", () => {
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag[1] - drag[0]) > 5) link.zoom(drag.map(this.view.vx).sort((p, q) => p - q));
      else Frame.draw(this);
    });
    canvas.addEventListener("pointercancel", () => { this.drag = null; link.point(null); });
    canvas.addEventListener("pointerleave", () => link.point(null));
    canvas.addEventListener("dblclick", () => link.zoom(null));
    canvas.addEventListener("keydown", (event) => {
      const factor = { "+": 0.5, "-": 2 }[event.key];
      if (event.key === "0") link.zoom(null);
      else if (factor && this.view && !this.x.log) {
        const middle = (this.view.x0 + this.view.x1) / 2, half = (factor * (this.view.x1 - this.view.x0)) / 2;
        const [low, high] = this.whole();
        link.zoom(half >= (high - low) / 2 ? null : [Math.max(low, middle - half), Math.min(high, middle + half)]);
      }
    });
  }
}

/** A range with air around it, never empty. */
function padded(low, high, axis, share) {
  if (!(low <= high)) return axis.log ? [0.1, 1] : [-1, 1];
  if (axis.log) {
    const air = low === high ? 1.5 : (high / low) ** share;
    return [low / air, high * air];
  }
  if (axis.symmetric) { high = Math.max(Math.abs(low), Math.abs(high)); low = -high; }
  const air = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * share;
  return [low - air, high + air];
}
