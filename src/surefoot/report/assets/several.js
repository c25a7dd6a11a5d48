// The page of several fits, and the page of one that is still being found.

const FIT_COLOURS = ["a", "b", "c", "d", "e", "f"];

function fitsSection(content) {
  const names = [...new Set(content.rows.map((row) => row.name))];
  const cards = names.map((name) => {
    const rows = content.rows.filter((row) => row.name === name);
    return h("div", { class: "card" }, h("h3", {}, name), tracks({ label: `${name} in every fit`, unit: rows[0].unit, rows: rows.map((row) => ({ label: row.joint || name, tall: true, light: row.apart.length ? "yellow" : null,
      marks: row.values.map((p, k) => ({ value: real(p.value), low: real(p.low), high: real(p.high), colour: FIT_COLOURS[k % 6], hollow: p.flag !== "ok", title: `${content.names[k]}: ${digits(p.value)} (${digits(p.low)} … ${digits(p.high)}), ${p.flag}` })) })) }));
  });
  return section("beside", "Side by side", "Every parameter in every fit with its 95 % interval; hollow where it is not well identified. A triangle marks joints whose intervals do not overlap: they differ, or an interval is too narrow for a model that is wrong.",
    h("div", { class: "bar" }, content.names.map((name, k) => h("span", { class: "hint" }, swatch(FIT_COLOURS[k % 6]), name))), h("div", { class: "grid" }, cards));
}

function fitsTableSection(content) {
  const head = h("tr", {}, ["parameter", ...content.names, "do not overlap"].map((text) => h("th", {}, text)));
  const body = content.rows.map((row) => h("tr", {}, h("td", {}, `${row.joint} ${row.name} `, h("span", { class: "half" }, row.unit === "-" ? "" : `[${row.unit === "s" ? "ms" : row.unit}]`)),
    row.values.map((p) => valueCell(row.name, { value: [p.value], low: [p.low], high: [p.high], flag: [p.flag] }, 0, row.unit)), h("td", {}, row.apart.map((pair) => pair.join(" – ")).join(", "))));
  return section("table", "Numbers", "", h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, body))));
}

function fitsSourcesSection(content) {
  return section("sources", "The fits", "", h("dl", {}, content.fits.map(({ label, colour: colourName, text, fit }) => [h("dt", {}, lamp(colourName), label), h("dd", {}, `${text} Fitted to ${fit.recordings.map((s) => `${s.name} (${s.hash})`).join(", ")}.`)])));
}

/** Stage, loss and the best numbers so far; the server's events fill it. */
function liveSection(content) {
  const plot = new Plot({ label: "loss over the search", height: 240, x: { label: "iteration", least: 1 }, y: { log: true, label: "loss [rad²]" }, lines: [] });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "progress" }), note = h("p", { class: "readout", id: "told" }, "waiting for the first iteration"), table = h("div", { class: "scroll" });
  const plots = content.joints.map((joint) => new Plot({ label: `${joint}: measured and simulated position`, height: 120, x: { unit: "s" }, lines: [] }));
  const captions = content.joints.map(() => h("span", { class: "caption" })), grid = h("div", { class: "grid small", id: "moving", hidden: true },
    plots.map((one, j) => h("div", { class: "card" }, h("h3", {}, h("span", {}, content.joints[j]), captions[j]), one.box)));
  content.view = { plot, bar, note, table, plots, captions, grid };
  return section("live", "The search", "Updates by itself while the search runs. When it has ended, the whole report takes this page's place.", bar, note, plot.box, grid, table);
}

function listen(content) {
  const { plot, bar, note, table, plots, captions, grid } = content.view, stages = [], events = new EventSource("events"), line = (stage) => stages.find((one) => one.name === stage);
  events.addEventListener("progress", (event) => {
    const p = JSON.parse(event.data);
    if (!line(p.stage)) stages.push({ name: p.stage, colour: FIT_COLOURS[stages.length % 6], x: [], y: [] });
    const { x, y } = line(p.stage);
    x.push(p.iteration);
    y.push(real(p.loss));
    plot.lines = stages.map((stage) => ({ ...stage, marks: stage.x.length < 80 }));
    bar.value = (p.iteration + 1) / p.limit;
    note.textContent = `${p.stage}: ${p.iteration + 1} of at most ${p.limit}, loss ${digits(p.loss)} rad²`;
    if (p.values) table.replaceChildren(liveTable(content, p.values));
    Frame.draw(plot);
  });
  events.addEventListener("motion", (event) => {
    const motion = JSON.parse(event.data), time = unpack(motion.time), measured = unpack(motion.measured), simulated = unpack(motion.simulated);
    grid.hidden = false;
    plots.forEach((one, j) => {
      one.lines = [{ name: "measured", colour: "measured", width: 2, x: time, y: measured[j] }, { name: "simulated", colour: "simulated", x: time, y: simulated[j] }];
      captions[j].textContent = `${milli(motion.rmse[j])} ${content.small[j]} rms`;
      Frame.draw(one);
    });
  });
  events.addEventListener("done", async () => {
    events.close();
    render(await (await fetch("content.json")).json());
    document.documentElement.dataset.done = "true";
  });
  events.addEventListener("failed", (event) => {
    events.close();
    note.textContent = JSON.parse(event.data).message;
  });
  events.addEventListener("error", () => { if (events.readyState !== EventSource.CLOSED) note.textContent = "The search does not answer; it was stopped, or this page was cut off from it."; });
}

/** The best numbers so far, without intervals. */
function liveTable(content, values) {
  const names = Object.keys(values), n = content.joints.length, wide = names.filter((name) => values[name].length === n);
  return h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "joint"), wide.map((name) => h("th", {}, name, h("small", {}, content.units[name]))))),
    h("tbody", {}, content.joints.map((joint, j) => h("tr", {}, h("td", {}, joint), wide.map((name) => h("td", {}, digits(values[name][j]))))),
      names.filter((name) => !wide.includes(name)).map((name) => h("tr", {}, h("td", {}, name), h("td", {}, values[name].map((v) => digits(v)).join(", "), ` ${content.units[name]}`)))));
}
