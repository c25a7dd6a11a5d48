// The sections of a fit's page, each a function of the content.

const FLAG_STYLE = { "ok": null, "weak": "", "not identified": " bad", "at lower bound": "", "at upper bound": " bad", "fixed": " off" };

function section(id, title, lead, ...children) {
  return h("section", { id, "data-title": title }, h("h2", {}, title), lead ? h("p", { class: "lead" }, lead) : null, children);
}

function swatch(name) {
  return h("span", { class: "swatch", style: `background:var(--${name})` });
}

/** A button that is on or off. */
function toggle(content, on, change) {
  const button = h("button", { type: "button", "aria-pressed": String(on), onclick: () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    change(now);
  } }, content);
  return button;
}

function choice(label, options, change) {
  const select = h("select", { "aria-label": label, onchange: () => change(Number(select.value)) }, options.map((text, i) => h("option", { value: i }, text)));
  return h("label", {}, `${label} `, select);
}

/** Small lengths are shown in thousandths: mrad for hinges, mm for slides. */
function small(fit, j) {
  return fit.kinds[j] === "slide" ? "mm" : "mrad";
}

/** A given number: no more digits than it has. */
function brief(value) {
  return String(Number(value.toPrecision(6)));
}

function milli(value, count = 3) {
  return digits(1e3 * real(value), count);
}

/** One cell: value, half its interval, a flag. Its exact numbers are attributes. */
function valueCell(name, p, i, unit) {
  const [value, low, high] = [p.value[i], p.low[i], p.high[i]].map(real), flag = p.flag[i];
  const scale = unit === "s" ? 1e3 : 1, half = (scale * (high - low)) / 2;
  const skewed = Math.abs(high + low - 2 * value) > 0.2 * (high - low);
  const shown = flag === "fixed" ? digits(scale * value) : rounded(scale * value, half);
  const interval = flag === "fixed" ? "" : !Number.isFinite(half) ? "" : skewed ? ` (${digits(scale * low, 3)} … ${digits(scale * high, 3)})` : ` ±${rounded(half, half)}`;
  return h("td", { "data-parameter": name, "data-index": i, "data-value": p.value[i], "data-low": p.low[i], "data-high": p.high[i], "data-flag": flag,
    title: `${digits(scale * value, 6)}, 95 % interval ${digits(scale * low, 6)} … ${digits(scale * high, 6)}` },
    shown, h("span", { class: "half" }, interval),
    FLAG_STYLE[flag] === null ? null : h("span", { class: `flag${FLAG_STYLE[flag]}` }, flag));
}

function parametersSection(content) {
  const { fit, lights, units, symbols, shared } = content, names = Object.keys(fit.parameters).filter((name) => !shared.includes(name));
  const scores = [...fit.held_out];
  const none = fit.joints.map((_, j) => Math.sqrt(fit.recordings.reduce((sum, s) => sum + real(s.rmse_no_model[j]) ** 2, 0) / fit.recordings.length));
  const head = h("tr", {}, h("th", {}, "joint"),
    names.map((name) => h("th", {}, `${name} ${symbols[name]}`, h("small", {}, [...new Set(units[name])].map((u) => (u === "s" ? "ms" : u)).join(" or ")))),
    h("th", {}, "rmse fitted", h("small", {}, [...new Set(fit.joints.map((_, j) => small(fit, j)))].join(" or "))),
    scores.map((s) => h("th", {}, s.name, h("small", {}, "held out"))), h("th", {}, "no model", h("small", {}, "fitted recordings")));
  const body = fit.joints.map((joint, j) => h("tr", {}, h("td", {}, lamp(lights[j].colour, lights[j].reasons.join("; ") || undefined), joint),
    names.map((name) => valueCell(name, fit.parameters[name], j, units[name][j])),
    h("td", { "data-rmse": joint }, milli(content.rmse[j])),
    scores.map((s) => h("td", { "data-score": s.name, "data-joint": joint, "data-value": s.rmse[j] }, milli(s.rmse[j]))),
    h("td", {}, milli(none[j]))));
  const single = shared.filter((name) => name in fit.parameters).flatMap((name) => fit.parameters[name].value.map((_, i) =>
    h("tr", {}, h("td", {}, `${name}${name === "tilt" ? [" roll", " pitch"][i] : ""} ${symbols[name]}`), valueCell(name, fit.parameters[name], i, units[name][i]),
      h("td", {}, units[name][i] === "s" ? "ms" : units[name][i]))));
  const flags = [...new Set(Object.values(fit.parameters).flatMap((p) => p.flag))];
  return section("parameters", "Parameters", "Each value with half of its 95 % interval. Point at a number for more digits.",
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, body))),
    single.length ? [h("h3", {}, "Shared by all joints"), h("div", { class: "scroll" }, h("table", { style: "width:auto" }, h("tbody", {}, single)))] : null,
    fit.findings.length ? [h("h3", {}, "Findings"), h("ul", {}, fit.findings.map((text) => h("li", {}, text)))] : null,
    h("h3", {}, "What the flags mean"), h("dl", {}, flags.map((flag) => [h("dt", {}, flag), h("dd", {}, content.meanings[flag])])),
    h("h3", {}, content.twins.length ? "Left beside right" : "Joint beside joint"),
    content.twins.length ? h("p", { class: "hint" }, swatch("a"), "left  ", swatch("b"), "right. A triangle: their intervals do not overlap. Hollow: not well identified.") : h("p", { class: "hint" }, "Hollow: not well identified."),
    h("div", { class: "grid two" }, names.map((name) => intervalCard(content, name))));
}

/** A row for every joint; left and right share one, with a triangle where their intervals do not overlap. */
function intervalCard(content, name) {
  const { fit, units, twins } = content, p = fit.parameters[name], right = new Map(twins), taken = new Set(right.values());
  const mark = (j, colourName) => ({ value: real(p.value[j]), low: real(p.low[j]), high: real(p.high[j]), colour: colourName, hollow: FLAG_STYLE[p.flag[j]] !== null,
    title: `${fit.joints[j]} ${name}: ${digits(p.value[j])} (${digits(p.low[j])} … ${digits(p.high[j])}), ${p.flag[j]}` });
  const rows = fit.joints.map((joint, j) => [joint, j]).filter(([, j]) => !taken.has(j)).map(([joint, j]) => {
    if (!right.has(j)) return { label: joint, marks: [mark(j, "a")] };
    const k = right.get(j), apart = real(p.high[j]) < real(p.low[k]) || real(p.high[k]) < real(p.low[j]);
    return { label: [joint, h("br"), fit.joints[k]], tall: true, light: apart && ![p.flag[j], p.flag[k]].includes("fixed") ? "yellow" : null, marks: [mark(j, "a"), mark(k, "b")] };
  });
  return h("div", { class: "card" }, h("h3", {}, name), tracks({ label: `${name} of every joint with its interval`, rows, unit: [...new Set(units[name])].join(" or ") }));
}

/** What the motion of a recording looks like, decoded once. */
function decoded(content, k) {
  const cache = (content.cache ??= []);
  if (!cache[k]) {
    const packed = content.recordings[k], measured = unpack(packed.measured), error = unpack(packed.error), gap = unpack(packed.no_model);
    const sum = (a, b) => a.map((v, i) => v + b[i]);
    cache[k] = {
      time: unpack(packed.time).map((t) => t + packed.start), measured, error, none_error: gap,
      simulated: measured.map((row, j) => sum(row, error[j])), none: measured.map((row, j) => sum(row, gap[j])),
      target: packed.target ? unpack(packed.target) : null,
    };
  }
  return cache[k];
}

function recordingNames(content) {
  return content.recordings.map((rec) => `${rec.name}${rec.held_out ? " (held out)" : ""}`);
}

function motionSection(content) {
  const { fit, lights } = content, link = new Link(), reset = h("button", { type: "button", class: "push", disabled: true, onclick: () => link.zoom(null) }, "show all of it");
  link.listeners.add((range) => { reset.disabled = range === null; });
  const readout = h("p", { class: "readout" }), state = { k: 0, errors: false, shown: { target: false, measured: true, simulated: true, none: true } };
  const names = { target: "target", measured: "measured", simulated: "simulated", none: "no model" };
  const plots = fit.joints.map((joint, j) => new Plot({ label: `${joint}: measured and simulated position over time`, height: 150, link, x: { unit: "s" }, y: {}, lines: [] }));
  plots.forEach((plot, j) => {
    plot.read = (at, values) => { if (plot.canvas.matches(":hover")) readout.textContent = at === null ? "" : `${fit.joints[j]} at ${digits(at, 5)} s: ${values.map(({ line, value }) => `${line.name} ${digits(value)}`).join(", ")} ${plot.unit}`; };
  });
  const captions = fit.joints.map(() => h("span", { class: "caption" }));
  const lines = () => {
    const rec = decoded(content, state.k), score = [...fit.recordings, ...fit.held_out][state.k];
    plots.forEach((plot, j) => {
      const unit = (plot.unit = state.errors ? small(fit, j) : fit.kinds[j] === "slide" ? "m" : "rad");
      const make = (key, y, more) => ({ name: names[key], colour: key, x: rec.time, y, hidden: !state.shown[key], ...more });
      plot.lines = state.errors
        ? [make("none", rec.none_error[j].map((v) => 1e3 * v)), make("simulated", rec.error[j].map((v) => 1e3 * v))]
        : [make("none", rec.none[j]), rec.target ? make("target", rec.target[j], { dash: [3, 3], width: 1 }) : null, make("measured", rec.measured[j], { width: 2 }), make("simulated", rec.simulated[j], { width: 1.2 })].filter(Boolean);
      plot.y = { label: unit };
      captions[j].textContent = `${milli(score.rmse[j])} ${small(fit, j)} rms`;
    });
    link.refresh();
  };
  const toggles = Object.keys(names).filter((key) => key !== "target" || content.recordings[0].target).map((key) => {
    const button = toggle([swatch(key), names[key]], state.shown[key], (on) => { state.shown[key] = on; lines(); });
    button.dataset.series = key;
    return button;
  });
  lines();
  const thinned = content.recordings.some((rec) => rec.every > 1) ? ` Every ${content.recordings[0].every}th sample is drawn.` : "";
  return section("motion", "Motion", `What was measured, what the fit makes of the same command, and what the model does without joint dynamics. Drag across a plot to zoom all of them, double-click for the whole.${thinned}`,
    h("div", { class: "bar" }, choice("recording", recordingNames(content), (k) => { state.k = k; link.zoom(null); lines(); }), toggles,
      toggle("error only", false, (on) => { state.errors = on; if (on) state.shown.none = false; for (const b of toggles) if (b.dataset.series === "none") b.setAttribute("aria-pressed", String(state.shown.none)); lines(); }), reset),
    readout,
    h("div", { class: "grid" }, plots.map((plot, j) => h("div", { class: "card", id: `joint-${j}` }, h("h3", {}, lamp(lights[j].colour), h("span", {}, fit.joints[j]), captions[j]), plot.box))));
}

function sceneSection(content) {
  if (!content.scene) return section("scene", "In 3-D", "The robot's model was not at hand when this page was written, so there is no 3-D view. Write the page again with --robot.");
  let k = 0, simulatedKey = "simulated";
  const slider = h("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "time", oninput: () => {
    const { time } = decoded(content, k);
    view.time = time[0] + (slider.value / 1000) * (time[time.length - 1] - time[0]);
    Frame.draw(view);
  } });
  const clock = h("span", { class: "readout" });
  const view = new Scene({ geometry: content.scene, source: () => { const rec = decoded(content, k); return { time: rec.time, measured: rec.measured, simulated: rec[simulatedKey] }; },
    told: (at, time) => { clock.textContent = `${at.toFixed(2)} s`; slider.value = (1000 * (at - time[0])) / (time[time.length - 1] - time[0] || 1); } });
  const play = h("button", { type: "button", id: "play", onclick: () => { view.play(!view.playing); play.textContent = view.playing ? "pause" : "play"; } }, "play");
  return section("scene", "In 3-D", "The measured motion, and as its core the simulated one: where they differ, the core leaves the hull. The difference is often too small to see, and can be enlarged. Drag to turn; Ctrl and wheel to come closer.",
    h("div", { class: "bar" }, play, clock, slider, choice("recording", recordingNames(content), (i) => { k = i; Frame.draw(view); })),
    h("div", { class: "bar" },
      choice("simulated", ["fitted", "no model"], (i) => { simulatedKey = ["simulated", "none"][i]; Frame.draw(view); }),
      choice("difference", ["as it is", "× 10", "× 100"], (i) => { view.gain = [1, 10, 100][i]; Frame.draw(view); }),
      choice("speed", ["× 1", "× 0.25", "× 2"], (i) => { view.speed = [1, 0.25, 2][i]; }),
      toggle("side by side", false, (on) => { view.side = on; Frame.draw(view); }),
      h("span", { class: "hint" }, swatch("robot"), "measured  ", swatch("simulated"), "simulated")),
    h("div", { class: "stage" }, view.box));
}

function portraitSection(content) {
  const { fit } = content, state = { k: 0, j: -1 }, colours = { "no model": "none", baseline: "baseline", fitted: "simulated" };
  const plots = [0, 1].map((close) => new Plot({ label: `delta phase portrait${close ? ", close" : ""}`, height: 340, cloud: true, x: {}, y: {}, lines: [] }));
  const draw = () => {
    const clouds = content.portrait[state.k], joints = state.j < 0 ? fit.joints.map((_, j) => j) : [state.j], unit = small(fit, joints[0]);
    const gather = (packed) => Float64Array.from(joints.flatMap((j) => [...packed[j]]), (v) => 1e3 * v);
    plots.forEach((plot, close) => {
      plot.lines = Object.entries(clouds).filter(([name]) => !close || name !== "no model").map(([name, cloud]) => ({ name, colour: colours[name], dots: true, alpha: 0.5, x: gather(unpack(cloud.q)), y: gather(unpack(cloud.v)) }));
      plot.x = { label: `Δ position [${unit}]`, symmetric: true };
      plot.y = { label: `Δ speed [${unit}/s]`, symmetric: true };
      plot.link.zoom(null);
    });
  };
  draw();
  const shown = Object.keys(content.portrait[0]);
  return section("portrait", "Delta phase portrait", "At every moment the real joint minus the simulated one: position to the right, speed upwards. The closer to the centre, the closer to the robot. The second plot leaves “no model” out and magnifies the rest.",
    h("div", { class: "bar" }, choice("recording", recordingNames(content), (k) => { state.k = k; draw(); }), choice("joint", ["all joints", ...fit.joints], (j) => { state.j = j - 1; draw(); }),
      shown.map((name) => h("span", { class: "hint" }, swatch(colours[name]), name))),
    h("div", { class: "grid two" }, plots.map((plot) => plot.box)));
}

function errorSection(content) {
  const { fit, lights } = content;
  const mark = (score, key, colourName, hollow, j) => ({ value: 1e3 * real(score[key][j]), colour: colourName, hollow, title: `${score.name}${key === "rmse" ? "" : ", no model"}: ${milli(score[key][j], 4)} ${small(fit, j)}` });
  const rows = fit.joints.map((joint, j) => ({ label: joint, light: lights[j].colour, marks: [
    ...[...fit.recordings, ...fit.held_out].map((score) => mark(score, "rmse_no_model", "none", false, j)),
    ...fit.held_out.map((score) => mark(score, "rmse", "baseline", true, j)), ...fit.recordings.map((score) => mark(score, "rmse", "simulated", false, j)),
  ].filter((m) => !Number.isNaN(m.value)) }));
  return section("error", "Error by joint", "Root mean square of simulated minus measured position. Held-out recordings were not used for the fit: their error should be close to the fitted one.",
    h("div", { class: "bar" }, h("span", { class: "hint" }, swatch("simulated"), "fitted"), fit.held_out.length ? h("span", { class: "hint" }, swatch("baseline"), "held out") : null, h("span", { class: "hint" }, swatch("none"), "no model")),
    tracks({ label: "error by joint", rows, unit: [...new Set(fit.joints.map((_, j) => small(fit, j)))].join(" or "), log: true }));
}

function frequencySection(content) {
  const known = content.frequency.map((f, k) => [f, k]).filter(([f]) => f);
  if (!known.length) return section("frequency", "Frequency response", "These recordings keep no command that changes, or are too short, so there is no frequency response.");
  const { fit } = content, state = { at: 0, j: Math.max(0, known[0][0].joints.findIndex(Boolean)) }, link = new Link();
  const make = (label, more) => new Plot({ label, height: 210, link, x: { log: true, label: "Hz" }, y: {}, lines: [], ...more });
  const plots = { magnitude: make("magnitude", { y: { label: "magnitude [dB]" } }), phase: make("phase", { y: { label: "phase [°]" } }), coherence: make("coherence", { y: { label: "coherence", range: [0, 1.05] } }) };
  const note = h("p", { class: "readout" });
  const draw = () => {
    const response = known[state.at][0].joints[state.j];
    note.textContent = response ? "" : `${fit.joints[state.j]} has no frequency response in this recording.`;
    for (const [key, plot] of Object.entries(plots)) {
      plot.lines = !response ? [] : [["analytic", "baseline", { dash: [5, 4] }], ["measured", "measured", { width: 2.2 }], ["simulated", "simulated", {}]]
        .filter(([name]) => response[name]?.[key]).map(([name, colourName, more]) => ({ name, colour: colourName, x: response[name].f, y: response[name][key].map(real), ...more }));
    }
    link.zoom(null);
  };
  draw();
  return section("frequency", "Frequency response", "From command to position: what the data say, what the fitted simulator does, and the paper's linear H_q(s) with the identified parameters. H_q(s) knows neither friction nor gravity nor the other joints.",
    h("div", { class: "bar" }, choice("recording", known.map(([, k]) => recordingNames(content)[k]), (at) => { state.at = at; draw(); }),
      choice("joint", fit.joints, (j) => { state.j = j; draw(); }), h("span", { class: "hint" }, swatch("measured"), "data"), h("span", { class: "hint" }, swatch("simulated"), "model"),
      known[0][0].analytic ? h("span", { class: "hint" }, swatch("baseline"), "H_q(s)") : null),
    note, h("div", { class: "grid three" }, Object.values(plots).map((plot) => plot.box)));
}

function residualSection(content) {
  const { fit, lights } = content, link = new Link(), state = { k: 0 }, grid = h("div", { class: "grid small" });
  const plots = fit.joints.map((joint) => new Plot({ label: `${joint}: spectrum of what is left`, height: 130, link, x: { log: true, label: "Hz" }, y: { log: true, label: "" }, lines: [] }));
  const hints = fit.joints.map(() => h("div", { class: "hint" }));
  const draw = () => {
    const left = content.residuals[state.k];
    plots.forEach((plot, j) => {
      plot.lines = [{ name: "left", colour: "simulated", x: left.f, y: left.density[j].map((v) => 1e3 * real(v)) }];
      hints[j].replaceChildren(...left.hints[j].map((text) => h("p", {}, text)));
    });
    link.zoom(null);
  };
  draw();
  grid.append(...plots.map((plot, j) => h("div", { class: "card" }, h("h3", {}, lamp(lights[j].colour), h("span", {}, fit.joints[j])), plot.box, hints[j])));
  return section("residual", "What is left", "Spectrum of simulated minus measured position, in mrad (slides: mm) per √Hz. What the model does not explain stands out of the noise, and the text below each plot says what it may be.",
    h("div", { class: "bar" }, choice("recording", recordingNames(content), (k) => { state.k = k; draw(); })), grid);
}

function correlationSection(content) {
  const pairs = content.fit.correlation;
  const strong = pairs.length ? h("ul", {}, pairs.slice(0, 8).map(([a, b, value]) => h("li", {}, `${a} and ${b}: ${digits(value, 3)}`))) : h("p", {}, "No pair is beyond ±0.9: the data tell all parameters apart.");
  if (!content.matrix) return section("correlation", "Correlation", "This fit was written before the whole matrix was kept; these are its strongest pairs.", strong);
  const readout = h("p", { class: "readout" }, "Point at a cell.");
  const heat = new Heat({ label: "correlation of the parameters", labels: content.matrix.labels, rows: unpack(content.matrix.values), tell: (text) => { readout.textContent = text ?? "Point at a cell."; } });
  return section("correlation", "Correlation", "Which parameters the data can hardly tell apart: orange, they rise together; blue, one rises as the other falls.",
    h("div", { class: "grid two" }, h("div", {}, heat.box, readout), h("div", {}, h("h3", {}, "Pairs beyond ±0.9"), strong)));
}

function searchSection(content) {
  const { fit } = content, y = fit.history.map(real), plot = new Plot({ label: "loss over the search", height: 220, x: { label: fit.method === "cmaes" ? "generation" : "iteration", least: 1 }, y: { log: true, label: "loss [rad²]" },
    lines: [{ name: "loss", colour: "simulated", x: y.map((_, i) => i), y, marks: y.length < 80 }] });
  return section("search", "The search", `${fit.stop} ${fit.rollouts} simulated candidates in ${digits(fit.seconds, 3)} s by ${fit.method}, seed ${fit.seed}.`, plot.box);
}

function dataSection(content) {
  const { checks } = content.fit;
  if (!checks.length) return section("data", "The recordings", "Nothing was kept of a check of these recordings: surefoot check says what it finds.");
  const light = { stop: "red", warn: "yellow", ok: "green" }, rows = new Map();
  for (const f of checks) {
    const key = [f.level, f.recording, f.subject].join("|"), text = f.joint && !f.message.includes(f.joint) ? `${f.joint}: ${f.message}` : f.message;
    rows.set(key, [...(rows.get(key) ?? []), [f, text]]);
  }
  return section("data", "The recordings", "What surefoot check said of the fitted recordings before the fit.",
    h("div", { class: "findings" }, [...rows.values()].map((found) => {
      const [{ level, recording, subject }] = found[0], remedies = [...new Set(found.map(([f]) => f.remedy).filter(Boolean))];
      return h("div", { class: "finding" }, h("div", {}, lamp(light[level], level), h("b", {}, subject), h("span", {}, recording)),
        h("div", {}, found.map(([, text]) => h("p", {}, text)), remedies.map((text) => h("p", { class: "remedy" }, text))));
    })));
}

function provenanceSection(content) {
  const { fit } = content, u = fit.unknowns, list = (names) => names.join(", ");
  const asked = [u.extra?.length ? `also searched: ${list(u.extra)}` : "", Object.keys(u.fixed ?? {}).length ? `fixed: ${list(Object.entries(u.fixed).map(([k, v]) => `${k} = ${v}`))}` : "", u.tied?.length ? `tied: ${list(u.tied)}` : "",
    Object.keys(u.bounds ?? {}).length ? `bounds: ${list(Object.entries(u.bounds).map(([k, [a, b]]) => `${k} ${a} … ${b}`))}` : "", u.torque_weight ? `torque weight ${u.torque_weight}` : ""].filter(Boolean);
  const gains = (score) => { const range = (v) => [...new Set([Math.min(...v.map(real)), Math.max(...v.map(real))])].map(brief).join(" to "); return score.stiffness.length ? `, P ${range(score.stiffness)}, D ${range(score.damping)}` : ""; };
  const rows = [["robot", `${fit.robot}, from ${fit.source}`], ["model", fit.model_hash], ...fit.recordings.map((s) => ["fitted to", `${s.name}, ${s.hash}${gains(s)}`]), ...fit.held_out.map((s) => ["held out", `${s.name}, ${s.hash}${gains(s)}`]),
    ["physics", `timestep ${brief(1e3 * fit.timestep)} ms, delay on the ${fit.delay_on}, bias of the ${fit.bias_form}`], ["asked for", asked.join("; ") || "the paper's 4n + 1 parameters, nothing fixed or tied"], ["search", `${fit.method}, seed ${fit.seed}`],
    ["prescribed", list(fit.prescribed) || "none"], ["loss", `${digits(fit.loss)} rad²`], ["versions", list(Object.entries(fit.versions).map(([k, v]) => `${k} ${v}`))]];
  return section("provenance", "Where it comes from", "Enough to do it again.", h("dl", {}, rows.map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
}
