// The page of a training.

const MARKS = { velocity_error: ["velocity error", "m/s"], yaw_error: ["yaw error", "rad/s"], standing: ["standing after 12 s", "share of robots"], power: ["power", "W"], cot: ["cost of transport", "-"], reward: ["reward", "1/s"] };

function marksSection(content) {
  const { record, good } = content, limits = { ...good, standing: 1 - good.falls };
  const within = (name) => name === "standing" ? record.evaluation[name] >= limits[name] : record.evaluation[name] <= limits[name];
  const rows = Object.entries(MARKS).map(([name, [title, unit]]) => h("tr", {}, h("td", {}, name in limits ? lamp(within(name) ? "green" : "yellow") : null, title),
    h("td", { "data-mark": name, "data-value": record.evaluation[name] }, digits(record.evaluation[name])), h("td", {}, name in limits ? `${name === "standing" ? "≥" : "≤"} ${digits(limits[name], 2)}` : ""), h("td", {}, unit)));
  return section("marks", "Marks", "The mean policy that was kept, on held commands without pushes. A lost robot is left out, a fallen one counts as standing still.",
    h("div", { class: "scroll" }, h("table", { style: "width:auto" }, h("thead", {}, h("tr", {}, ["mark", "value", "good", "unit"].map((text) => h("th", {}, text)))), h("tbody", {}, rows))));
}

function curvesSection(content) {
  const link = new Link(), cards = content.figures.map((figure) => {
    const lines = figure.lines.map((line, k) => ({ name: line.name, colour: line.judged ? "measured" : FIT_COLOURS[(k + 1) % 6], x: line.x, y: line.y.map(real), marks: line.judged }));
    const plot = new Plot({ label: figure.title, height: 190, link, x: { label: "iteration", least: 1 }, y: { log: figure.log }, lines });
    return h("div", { class: "card" }, h("h3", {}, figure.title), plot.box, lines.length > 1 ? h("div", { class: "bar" }, lines.map((line) => h("span", { class: "hint" }, swatch(line.colour), line.name))) : null);
  });
  return section("curves", "Curves", "Drag across a plot to zoom all of them, double-click for the whole.", h("div", { class: "grid" }, cards));
}

function trainedSection(content) {
  const { record } = content, flat = (value) => Array.isArray(value) ? value.map(flat).join(" ") : value !== null && typeof value === "object" ? Object.entries(value).map(([key, inner]) => `${key} ${flat(inner)}`).join(", ") : String(value);
  const keys = Object.keys(record).filter((key) => !["evaluation", "dynamics"].includes(key));
  return section("trained", "Where it comes from", "All of training.json but the joint dynamics.", h("dl", {}, keys.map((key) => [h("dt", {}, key), h("dd", {}, flat(record[key]))])));
}
