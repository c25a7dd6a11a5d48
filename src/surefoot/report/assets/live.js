// The pages that update: a fit that is still being found, and a recording while the robot moves.

/** Stage, loss and the best numbers so far; the server's events fill it. */
function liveSection(content) {
  const plot = new Plot({ label: "loss over the search", height: 240, x: { label: "iteration", least: 1 }, y: { log: true, label: "loss [rad²]" }, lines: [] });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "progress" }), note = h("p", { class: "readout", id: "told" }, "waiting for the first iteration"), table = h("div", { class: "scroll" });
  const moving = movingGrid(content);
  content.view = { plot, bar, note, table, moving };
  return section("live", "The search", "Updates by itself while the search runs. When it has ended, the whole report takes this page's place.", bar, note, plot.box, moving.grid, table);
}

/** The widest interval of each kind over the recorded time, and the threshold that they must get below. */
function recordingSection(content) {
  const { duration, enough, judged } = content, limit = { name: "asked for", colour: "muted", dash: [5, 4], x: [0, duration], y: [100 * enough, 100 * enough] };
  const plot = new Plot({ label: "widest interval of each kind over the recorded time", height: 240, x: { label: "recorded [s]", range: [0, duration] }, y: { log: true, label: "± %" }, lines: [limit] });
  const bar = h("progress", { max: duration, value: 0, "aria-label": "recorded" }), note = h("p", { class: "readout", id: "told" }, "the first fit comes after some seconds of motion"), table = h("div", { class: "scroll" });
  const moving = movingGrid(content), key = h("div", { class: "bar" }, judged.map((name, k) => h("span", { class: "hint" }, swatch(FIT_COLOURS[k]), name)), h("span", { class: "hint" }, swatch("muted"), `asked for: ± ${digits(100 * enough, 2)} %`));
  content.view = { plot, bar, note, table, moving, limit };
  return section("live", "The recording", "Fitted again and again while the robot moves. Half the widest 95 % interval of each kind, over what the parameter is a part of: the joint's inertia, all damping, the largest torque asked for, 5 ms. When the recording has ended, the report of its fit takes this page's place.",
    bar, note, plot.box, key, table, moving.grid);
}

/** Measured and simulated motion of every joint, hidden until there is one. */
function movingGrid(content) {
  const plots = content.joints.map((joint) => new Plot({ label: `${joint}: measured and simulated position`, height: 120, x: { unit: "s" }, lines: [] }));
  const captions = content.joints.map(() => h("span", { class: "caption" })), grid = h("div", { class: "grid small", id: "moving", hidden: true },
    plots.map((one, j) => h("div", { class: "card" }, h("h3", {}, h("span", {}, content.joints[j]), captions[j]), one.box)));
  return { plots, captions, grid };
}

function listen(content) {
  const { plot, bar, note, table, moving: { plots, captions, grid }, limit } = content.view, stages = [], events = new EventSource("events"), line = (stage) => stages.find((one) => one.name === stage);
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
  events.addEventListener("fit", (event) => {
    const told = JSON.parse(event.data), box = document.querySelector(".verdict"), verdict = document.getElementById("verdict"), colourName = told.good ? "green" : "yellow";
    for (const [k, name] of content.judged.entries()) {
      if (!line(name)) stages.push({ name, colour: FIT_COLOURS[k], x: [], y: [], marks: true });
      line(name).x.push(told.seconds);
      line(name).y.push(100 * real(told.share[name]));
    }
    plot.lines = [limit, ...stages];
    bar.value = told.seconds;
    note.textContent = `${digits(told.seconds, 3)} of ${digits(content.duration, 3)} s`;
    box.style.setProperty("--edge", `var(--${colourName})`);
    verdict.replaceChildren(lamp(colourName), told.sentence);
    table.replaceChildren(liveTable(content, told.values, told));
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
  events.addEventListener("error", () => { if (events.readyState !== EventSource.CLOSED) note.textContent = "Nobody answers; it was stopped, or this page was cut off from it."; });
}

/** The best numbers so far; with intervals where they are given. */
function liveTable(content, values, sure) {
  const shown = (name, i) => sure ? valueCell(name, { value: values[name], low: sure.low[name], high: sure.high[name], flag: sure.flags[name] }, i, "") : h("td", {}, digits(values[name][i]));
  const names = Object.keys(values), n = content.joints.length, wide = names.filter((name) => values[name].length === n);
  return h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "joint"), wide.map((name) => h("th", {}, name, h("small", {}, content.units[name]))))),
    h("tbody", {}, content.joints.map((joint, j) => h("tr", {}, h("td", {}, joint), wide.map((name) => shown(name, j)))),
      names.filter((name) => !wide.includes(name)).map((name) => h("tr", {}, h("td", {}, `${name} [${content.units[name]}]`), values[name].map((_, i) => shown(name, i))))));
}
