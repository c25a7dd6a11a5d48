// What every part of the page uses: elements, numbers, colours, packed arrays.

/** An element with attributes, listeners (on...) and children; texts become text, never markup. */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Rows of numbers from their packed form; a gap is NaN. */
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  if (packed.float) return Float64Array.from(new Float32Array(bytes.buffer));
  const view = new DataView(bytes.buffer), count = bytes.length / 2, flat = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const whole = view.getInt16(2 * i, true);
    flat[i] = whole === -32768 ? NaN : whole * packed.step;
  }
  if (packed.shape.length === 1) return flat;
  const width = packed.shape[1];
  return Array.from({ length: packed.shape[0] }, (_, row) => flat.subarray(row * width, (row + 1) * width));
}

/** A number of the file: "inf" is infinite, null is not there. */
function real(value) {
  return value === null || value === undefined ? NaN : value === "inf" ? Infinity : value;
}

/** A number in a few digits, with a true minus sign. */
function digits(value, count = 4) {
  value = real(value);
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const text = size < -4 || size >= 6 ? value.toExponential(count - 1) : value.toFixed(Math.max(0, Math.min(12, count - 1 - size)));
  return text.replace("-", "−").replace(/e([+−-]?)\+?/, "e$1");
}

/** A value to the second digit of half its interval. */
function rounded(value, half) {
  if (!(half > 0) || !Number.isFinite(half)) return digits(value);
  const places = Math.max(0, Math.min(12, 1 - Math.floor(Math.log10(half))));
  return Math.abs(value) < 1e-4 && value !== 0 && places > 6 ? digits(value) : value.toFixed(places).replace("-", "−");
}

/** The colour that a name stands for in the theme in force. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Calls together what was asked for many times before the next frame. */
const Frame = {
  asked: new Set(),
  draw(item) {
    if (this.asked.size === 0) requestAnimationFrame(() => this.now());
    this.asked.add(item);
  },
  now() {
    const items = [...this.asked];
    this.asked.clear();
    for (const item of items) item.paint();
  },
};

/** Everything that must be painted again when theme or size change. */
const Painted = new Set();

/** A canvas as wide as its box, drawn in CSS pixels. */
class Canvas {
  constructor(label, height) {
    this.canvas = h("canvas", { role: "img", "aria-label": label, tabindex: "0" });
    this.height = height;
    this.box = h("div", { class: "canvas", style: `height:${height}px` }, this.canvas);
    this.observer = new ResizeObserver(() => Frame.draw(this));
    this.observer.observe(this.box);
    Painted.add(this);
  }
  get width() {
    return this.box.clientWidth;
  }
  /** A cleared context, or null while the canvas is not laid out. */
  begin() {
    const width = this.width, height = this.box.clientHeight, scale = window.devicePixelRatio || 1;
    if (width === 0 || height === 0) return null;
    this.height = height;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }
  done() {
    this.canvas.dataset.drawn = String(1 + Number(this.canvas.dataset.drawn || 0));
    window.surefoot.firstPlot ??= performance.now();
  }
  remove() {
    this.observer.disconnect();
    Painted.delete(this);
  }
}

window.surefoot = {};
