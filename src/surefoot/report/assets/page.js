// The page itself: header, verdict, contents, sections by kind, theme, and what a live page hears.

const KINDS = {
  fit: [parametersSection, motionSection, sceneSection, portraitSection, errorSection, frequencySection, residualSection, correlationSection, searchSection, dataSection, provenanceSection],
  fits: [fitsSection, fitsTableSection, fitsSourcesSection],
  training: [marksSection, curvesSection, trainedSection],
  run: [accountSection, velocitySection, gaitSection, cyclesSection, spectraSection, powerSection, runNotesSection],
  live: [liveSection],
  recording: [recordingSection],
};

function verdictBox(content) {
  const { verdict, lights = [] } = content, reasons = lights.filter((light) => light.reasons.length);
  return h("div", { class: "verdict", style: `--edge:var(--${verdict.colour})` }, h("p", { id: "verdict" }, lamp(verdict.colour), verdict.text),
    lights.length ? h("div", { class: "lamps" }, lights.map((light, j) => h("a", { href: `#joint-${j}`, title: light.reasons.join("; ") || "nothing to say against it", "data-light": light.colour }, lamp(light.colour), light.joint))) : null,
    reasons.length ? h("ul", { class: "reasons" }, grouped(reasons).map(([text, joints]) => h("li", {}, h("b", {}, joints.join(", ")), `: ${text}`))) : null);
}

/** Joints about which the same is to be said. */
function grouped(lights) {
  const out = new Map();
  for (const { joint, reasons } of lights) out.set(reasons.join("; "), [...(out.get(reasons.join("; ")) ?? []), joint]);
  return [...out];
}

function render(content) {
  for (const item of [...Painted]) item.remove();
  const root = document.getElementById("page"), sections = KINDS[content.kind].map((make) => make(content));
  const theme = h("button", { type: "button", id: "theme", onclick: () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    repaint();
  } }, "light / dark");
  document.title = content.title;
  root.replaceChildren(h("header", {}, h("h1", {}, content.title), h("span", { class: "by" }, "surefoot"), theme), verdictBox(content),
    sections.length > 1 ? h("nav", { "aria-label": "contents" }, sections.map((part) => h("a", { href: `#${part.id}` }, part.dataset.title))) : "", ...sections);
}

function repaint() {
  for (const item of Painted) Frame.draw(item);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
const first = JSON.parse(document.getElementById("content").textContent);
render(first);
if (["live", "recording"].includes(first.kind)) listen(first);
