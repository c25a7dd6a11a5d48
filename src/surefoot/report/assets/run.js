// The page of a run: velocity, gait, limit cycles, spectra, power.

const VELOCITY_LINES = { commanded: ["measured", { width: 2 }], measured: ["none", { alpha: 0.7 }], "over a stride": ["simulated", { width: 2 }], estimated: ["baseline", { alpha: 0.7 }] };
const POWER_LINES = { battery: "measured", "heat of the coils": "e", mechanical: "a", "braking that comes back": "c" };

/** All plots over time share one zoom. */
function timeLink(content) {
  return (content.link ??= new Link());
}

function accountSection(content) {
  const { account } = content, triple = (row) => row ? row.map((v) => digits(v, 3)) : ["–", "–", "–"];
  const [moved, told] = [account.velocities, account.commanded].map(triple);
  const line = (title, value, unit, name) => h("tr", {}, h("td", {}, title), h("td", { "data-mark": name, "data-value": value }, digits(value)), h("td", {}, unit));
  const rows = [["forward", "m/s"], ["left", "m/s"], ["turn", "rad/s"]].map(([axis, unit], k) => h("tr", {}, h("td", {}, `${axis}, commanded ${told[k]}`), h("td", { "data-mark": axis, "data-value": account.velocities?.[k] ?? null }, moved[k]), h("td", {}, unit)));
  const costs = [["cot", "CoT, cost of transport"], ["coe", "CoE, of computing and sensing"], ["cod", "CoD, of drives that are enabled"], ["col", "CoL, of locomotion"]];
  return section("marks", "In numbers", `Mean over ${digits(account.steady, 3)} s of steady walk (2 s and more after a change of the command); velocities are ${account.measured === "truth" ? "the true ones of a virtual robot" : "the robot's own estimate"}.`,
    h("div", { class: "scroll" }, h("table", { style: "width:auto" }, h("thead", {}, h("tr", {}, ["mark", "value", "unit"].map((text) => h("th", {}, text)))),
      h("tbody", {}, rows, line("battery", account.power, "W", "power"), line("heat of the coils", account.electrical, "W", "electrical"), line("mechanical", account.mechanical, "W", "mechanical"), costs.map(([key, title]) => line(title, account[key], "-", key)),
        account.estimation_error === null ? null : line("error of the estimated velocity", account.estimation_error, "m/s", "estimation_error")))),
    account.transport_missing ? h("p", { class: "hint" }, `There is no cost of transport: ${account.transport_missing}.`) : null,
    account.steps.length ? [h("h3", {}, "Answers to commands"), h("div", { class: "scroll" }, h("table", { style: "width:auto" }, h("thead", {}, h("tr", {}, ["at [s]", "axis", "from", "to", "reached", "rise [s]", "overshoot"].map((text) => h("th", {}, text)))),
      h("tbody", {}, account.steps.map((s) => h("tr", {}, [digits(s.time, 3), s.axis, digits(s.before, 3), digits(s.after, 3), digits(s.reached, 3), digits(s.rise, 2), `${Math.round(100 * s.overshoot)} %`].map((text) => h("td", {}, text)))))))] : null);
}

function velocitySection(content) {
  const time = unpack(content.time), link = timeLink(content), shown = new Set(["commanded", "measured", "over a stride"]);
  const plots = content.velocity.map(({ axis, unit }) => new Plot({ label: `${axis}: commanded and measured velocity`, height: 170, link, x: { unit: "s" }, y: { label: unit }, lines: [] }));
  const draw = () => plots.forEach((plot, k) => {
    plot.lines = Object.entries(content.velocity[k].lines).map(([name, packed]) => ({ name, colour: VELOCITY_LINES[name][0], ...VELOCITY_LINES[name][1], x: time, y: unpack(packed), hidden: !shown.has(name) }));
    Frame.draw(plot);
  });
  draw();
  const toggles = Object.keys(content.velocity[0].lines).map((name) => toggle([swatch(VELOCITY_LINES[name][0]), name], shown.has(name), (on) => { on ? shown.add(name) : shown.delete(name); draw(); }));
  const violins = content.velocity.map(({ axis }) => content.violins.filter((one) => one.axis === axis)).filter((some) => some.length).map((some) => h("div", { class: "card" }, h("h3", {}, some[0].axis), new Violins(some).box));
  return section("velocity", "Velocity", "Of the base in its own axes. Drag across a plot to zoom all plots over time, double-click for the whole.",
    h("div", { class: "bar" }, toggles, h("span", { class: "hint" }, content.phases.map((p) => `${p.name} ${digits(p.start, 3)} – ${digits(p.end, 3)} s`).join(", "))),
    h("div", { class: "grid" }, plots.map((plot, k) => h("div", { class: "card" }, h("h3", {}, h("span", {}, content.velocity[k].axis), h("span", { class: "caption" }, content.velocity[k].mean === null ? "" : `${digits(content.velocity[k].mean, 2)} ± ${digits(content.velocity[k].spread, 2)} ${content.velocity[k].unit} off`)), plot.box))),
    violins.length ? [h("h3", {}, "Steady velocity, by command"), h("p", { class: "hint" }, "Width: how often. The thick line holds 90 % of the time, the disc is the mean, the dashed line the command."), h("div", { class: "grid" }, violins)] : null);
}

/** Densities of one axis side by side, one for each command. */
class Violins extends Canvas {
  constructor(rows) {
    super(`steady velocity ${rows[0].axis}, by command`, 200);
    this.rows = rows;
  }

  paint() {
    const context = this.begin();
    if (!context) return;
    const { rows, width, height } = this, all = rows.flatMap((row) => [...row.at, row.command]), [low, high] = padded(Math.min(...all), Math.max(...all), {}, 0.05);
    const left = 58, top = 8, bottom = height - 24, place = (width - left - 10) / rows.length, py = (v) => bottom - ((v - low) / (high - low)) * (bottom - top), marks = ticks(low, high, 5);
    context.font = "11px system-ui, sans-serif";
    context.strokeStyle = colour("grid");
    context.fillStyle = colour("muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const v of marks) {
      context.beginPath(), context.moveTo(left, py(v)), context.lineTo(width - 10, py(v)), context.stroke();
      context.fillText(tickText(v, marks[1] - marks[0]), left - 5, py(v));
    }
    rows.forEach((row, k) => {
      const middle = left + (k + 0.5) * place, reach = Math.min(0.42 * place, 70), most = Math.max(...row.density), half = row.density.map((d) => (reach * d) / most);
      context.beginPath();
      row.at.forEach((v, i) => context.lineTo(middle + half[i], py(v)));
      [...row.at.keys()].reverse().forEach((i) => context.lineTo(middle - half[i], py(row.at[i])));
      context.closePath();
      context.fillStyle = colour("simulated");
      context.globalAlpha = 0.35;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = colour("ink");
      context.lineWidth = 3;
      context.beginPath(), context.moveTo(middle, py(row.low)), context.lineTo(middle, py(row.high)), context.stroke();
      context.beginPath(), context.arc(middle, py(row.mean), 4, 0, 7);
      context.fillStyle = colour("ink");
      context.fill();
      context.lineWidth = 1.5;
      context.setLineDash([5, 4]);
      context.beginPath(), context.moveTo(middle - reach, py(row.command)), context.lineTo(middle + reach, py(row.command)), context.stroke();
      context.setLineDash([]);
      context.fillStyle = colour("muted");
      context.textAlign = "center";
      context.fillText(`${digits(row.command, 2)} ${row.unit}`, middle, height - 10);
    });
    context.save(), context.translate(8, (top + bottom) / 2), context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(rows[0].unit, 0, 0);
    context.restore();
    this.done();
  }
}

function gaitSection(content) {
  const { gait: { feet, spells }, account } = content;
  if (!feet.length) return section("gait", "Gait", "Nothing says which feet were on the ground.");
  const names = [...feet].reverse(), lines = feet.map((foot, k) => {
    const x = [], y = [], level = feet.length - 1 - k;
    for (let i = 0; i < spells[k].length; i += 2) { x.push(spells[k][i], spells[k][i + 1], spells[k][i + 1]); y.push(level, level, NaN); }
    return { name: foot, colour: FIT_COLOURS[k % 6], x: x.length ? x : [0], y: x.length ? y : [NaN], width: 12 };
  });
  const ends = content.phases, plot = new Plot({ label: "gait: which feet are on the ground", height: 40 + 34 * feet.length, link: timeLink(content), x: { unit: "s", range: [ends[0].start, ends[ends.length - 1].end] }, y: { names, range: [-0.6, feet.length - 0.4] }, lines });
  const walk = ends.find((p) => p.name === "walking" && p.end - p.start > 4), start = walk ? walk.start + 2 : 0;
  return section("gait", "Gait", "A bar while a foot is on the ground. It shares its zoom with velocity and power.",
    h("div", { class: "bar" }, walk ? h("button", { type: "button", id: "strides", onclick: () => plot.link.zoom([start, start + 2]) }, "two seconds") : null, h("button", { type: "button", onclick: () => plot.link.zoom(null) }, "all of it"),
      account.gait.map((foot) => h("span", { class: "hint" }, `${foot.foot}: ${digits(foot.frequency, 3)} Hz, ${Math.round(100 * foot.duty)} % on the ground`))), plot.box);
}

function cyclesSection(content) {
  if (!content.cycles.length) return section("cycles", "Limit cycles", "The walk was never steady, so there is no cycle.");
  const cards = content.cycles.map((cycle, j) => {
    const lines = [{ name: "motion", colour: "none", dots: true, alpha: 0.45, x: unpack(cycle.q), y: unpack(cycle.v) }];
    if (cycle.mean) lines.push({ name: "mean stride", colour: "simulated", dots: true, alpha: 1, size: 2.6, x: unpack(cycle.mean.q), y: unpack(cycle.mean.v) });
    const plot = new Plot({ label: `${content.joints[j]}: speed over position`, height: 190, cloud: true, x: { unit: "rad" }, y: { label: "rad/s" }, lines });
    return h("div", { class: "card" }, h("h3", {}, h("span", {}, content.joints[j]), h("span", { class: "caption" }, cycle.period ? `stride ${digits(cycle.period, 3)} s, scatter ${Math.round(100 * cycle.scatter)} %` : "no stride found")), plot.box);
  });
  return section("cycles", "Limit cycles", "Speed over position of each joint while the walk is steady, and the mean stride. Scatter: how far strides differ, over how far the joint moves.", h("div", { class: "grid" }, cards));
}

function spectraSection(content) {
  if (!content.spectra.length) return section("spectra", "Spectra", "The walk was never steady for long enough to have a spectrum.");
  const link = new Link(), cards = content.spectra.map(({ f, lines }, j) => h("div", { class: "card" }, h("h3", {}, content.joints[j]),
    new Plot({ label: `${content.joints[j]}: spectrum of target and position`, height: 140, link, x: { log: true, label: "Hz" }, y: { log: true, label: "rad" }, lines: Object.entries(lines).map(([name, y]) => ({ name, colour: name === "target" ? "target" : "simulated", x: f, y: y.map(real) })) }).box));
  return section("spectra", "Spectra", "Amplitudes of target and position while the walk is steady.", h("div", { class: "bar" }, h("span", { class: "hint" }, swatch("target"), "target"), h("span", { class: "hint" }, swatch("simulated"), "position")), h("div", { class: "grid small" }, cards));
}

function powerSection(content) {
  const { lines, mean, joints } = content.power, time = unpack(content.time);
  if (!Object.keys(lines).length) return section("power", "Power", "The run says nothing of torque or battery.");
  const plot = new Plot({ label: "power by source over time", height: 240, link: timeLink(content), x: { unit: "s" }, y: { label: "W" }, lines: Object.entries(lines).map(([name, packed]) => ({ name, colour: POWER_LINES[name], width: name === "battery" ? 2 : 1.3, x: time, y: unpack(packed) })) });
  const rows = !Object.keys(joints).length ? [] : content.joints.map((joint, j) => ({ label: joint, marks: Object.entries(joints).map(([name, values]) => ({ value: values[j], colour: { "heat of the coils": "e", driving: "a", braking: "c" }[name], title: `${name}: ${digits(values[j], 3)} W` })) }));
  return section("power", "Power by source", "Averaged over a stride. Heat of the coils and mechanical power are the energy model's, from the torque that the drives report; battery is measured, with standby.",
    h("div", { class: "bar" }, Object.keys(lines).map((name) => h("span", { class: "hint" }, swatch(POWER_LINES[name]), `${name}${mean[name] === undefined || mean[name] === null ? "" : `: ${digits(mean[name], 3)} W`}`))), plot.box,
    rows.length ? [h("h3", {}, "By joint, while the walk is steady"), h("div", { class: "bar" }, [["e", "heat of the coils"], ["a", "driving"], ["c", "braking"]].map(([name, text]) => h("span", { class: "hint" }, swatch(name), text))), tracks({ label: "power of every joint", rows, unit: "W", zero: true })] : null);
}

function runNotesSection(content) {
  const { account, notes } = content, rows = [["duration", `${digits(account.duration, 4)} s`], ["ended", account.stop || "as planned"], ["charge used", account.charge_used === null ? "–" : `${digits(100 * account.charge_used, 3)} %`], ...Object.entries(notes)];
  return section("source", "Where it comes from", "", h("dl", {}, rows.map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])));
}
