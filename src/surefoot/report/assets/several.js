// The page of several fits.

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
