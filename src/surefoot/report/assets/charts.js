// Rows of marks with whiskers, and a table of colours.

/**
 * Marks on a common scale, a row each. rows [{label, light, marks [{value, low, high, colour, hollow, title}]}], unit, log.
 * Plain boxes placed by percent: they follow the width of the page by themselves.
 */
function tracks({ label, rows, unit, log = false, zero = false }) {
  const numbers = rows.flatMap((row) => row.marks.flatMap((mark) => [mark.value, mark.low, mark.high]))
    .filter((v) => Number.isFinite(v) && (!log || v > 0));
  if (zero) numbers.push(0);
  const [low, high] = padded(Math.min(...numbers), Math.max(...numbers), { log }, 0.05);
  const f = log ? Math.log10 : (v) => v;
  const place = (v) => `${Math.min(100, Math.max(0, (100 * (f(log ? Math.max(v, low) : v) - f(low))) / (f(high) - f(low)))).toFixed(2)}%`;
  const marked = log ? decades(low, high, 5) : ticks(low, high, 4);
  const step = marked.length > 1 ? marked[1] - marked[0] : 1;
  const scale = h("div", { class: "track scale", "aria-hidden": "true" }, marked.map((v) => h("span", { style: `left:${place(v)}` }, tickText(v, step, log))));
  const lines = () => marked.map((v) => h("i", { class: "gridline", style: `left:${place(v)}` }));
  const draw = (mark, k, count) => {
    if (!Number.isFinite(mark.value)) return h("b", { class: "mark off", style: `left:100%;color:var(--${mark.colour})`, title: mark.title }, "›");
    const top = `top:${count > 1 ? (100 * (k + 0.5)) / count : 50}%`, out = [];
    if (Number.isFinite(mark.low) && Number.isFinite(mark.high))
      out.push(h("i", { class: "whisker", style: `left:${place(mark.low)};right:calc(100% - ${place(mark.high)});${top};background:var(--${mark.colour})` }));
    out.push(h("b", { class: `mark${mark.hollow ? " hollow" : ""}`, style: `left:${place(mark.value)};${top};color:var(--${mark.colour})`, title: mark.title }));
    return out;
  };
  return h("div", { class: "tracks", role: "img", "aria-label": label },
    rows.map((row) => h("div", { class: "row" },
      h("span", { class: "name" }, row.light ? lamp(row.light) : null, row.label),
      h("div", { class: `track${row.tall ? " tall" : ""}` }, lines(), row.marks.map((mark, k) => draw(mark, k, row.tall ? row.marks.length : 1))))),
    h("div", { class: "row" }, h("span", { class: "name unit" }, unit ? `[${unit}]` : ""), scale));
}

/** A traffic light that does not need colours: a disc, a triangle, a square. */
function lamp(colourName, text) {
  const sign = { green: "●", yellow: "▲", red: "■", grey: "○" }[colourName];
  const word = { green: "good", yellow: "doubts", red: "not ready", grey: "not identified on purpose" }[colourName];
  return h("span", { class: `lamp ${colourName}`, title: text ?? word, "aria-label": word, role: "img" }, sign);
}

/** A square table of numbers between -1 and 1 as colours; the pointer reads a cell. */
class Heat extends Canvas {
  constructor({ label, labels, rows, tell }) {
    super(label, 420);
    Object.assign(this, { labels, rows, tell });
    this.groups = [];
    labels.forEach((name, i) => {
      const group = name.includes(" = ") ? "tied" : name.split(" ").pop();
      const last = this.groups[this.groups.length - 1];
      last && last.name === group ? (last.to = i + 1) : this.groups.push({ name: group, from: i, to: i + 1 });
    });
    for (const kind of ["pointermove", "pointerdown"]) this.canvas.addEventListener(kind, (event) => this.read(event));
    this.canvas.addEventListener("pointerleave", () => { this.at = null; this.tell(null); Frame.draw(this); });
  }

  read(event) {
    if (!this.view) return;
    const { left, top, cell } = this.view, n = this.labels.length;
    const column = Math.floor((event.offsetX - left) / cell), row = Math.floor((event.offsetY - top) / cell);
    const inside = row >= 0 && column >= 0 && row < n && column < n;
    this.at = inside ? [row, column] : null;
    this.tell(inside ? `${this.labels[row]}  ×  ${this.labels[column]}:  ${digits(this.rows[row][column], 3)}` : null);
    Frame.draw(this);
  }

  paint() {
    const n = this.labels.length, gap = 84, wanted = Math.round(Math.min(this.width - gap - 8, 560)) + 24;
    if (this.box.clientHeight !== wanted) this.box.style.height = `${wanted}px`;
    const context = this.begin();
    if (!context) return;
    const cell = (wanted - 24) / n, left = gap, top = 2;
    this.view = { left, top, cell };
    const ends = { plus: channels(colour("simulated")), minus: channels(colour("baseline")), paper: channels(colour("card")) };
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        const value = this.rows[i][j], end = value > 0 ? ends.plus : ends.minus, share = Math.min(1, Math.abs(value) || 0);
        context.fillStyle = `rgb(${ends.paper.map((c, k) => Math.round(c + (end[k] - c) * share)).join(",")})`;
        context.fillRect(left + j * cell, top + i * cell, cell + 0.5, cell + 0.5);
      }
    context.strokeStyle = colour("grid");
    context.fillStyle = colour("muted");
    context.font = "11px system-ui, sans-serif";
    for (const { name, from, to } of this.groups) {
      context.strokeRect(left, top + from * cell, n * cell, (to - from) * cell);
      context.strokeRect(left + from * cell, top, (to - from) * cell, n * cell);
      context.textAlign = "right";
      context.textBaseline = "middle";
      if ((to - from) * cell > 10 || to - from === 1) context.fillText(name, left - 6, top + ((from + to) / 2) * cell);
      context.textAlign = "center";
      context.textBaseline = "top";
      if ((to - from) * cell > context.measureText(name).width) context.fillText(name, left + ((from + to) / 2) * cell, top + n * cell + 6);
    }
    if (this.at) {
      context.strokeStyle = colour("ink");
      context.lineWidth = 1.5;
      context.strokeRect(left + this.at[1] * cell, top + this.at[0] * cell, cell, cell);
    }
    this.done();
  }
}

/** Red, green and blue of a #rrggbb colour. */
function channels(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}
