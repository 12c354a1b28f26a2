"use strict";
/* Charts that tell what lies under the pointer: curves, and seconds against quality. Names are text, never markup. */
const { Plot } = globalThis;

function tip(points, x, y, title) {
  return Plot.tip(points, Plot.pointer({ x, y, title }));
}

function curves(points, group) {
  const said = (at) => `${at.name}\n${at.x} features: r${group.score} ${at.y.toFixed(3)}`;
  return {
    x: { type: "log", label: "number of top-ranked features" },
    y: { label: `r${group.score} (1 = all features)`, grid: true },
    marks: [
      Plot.ruleY([1], { stroke: "#777" }),
      Plot.line(points, { x: "x", y: "y", z: "ranker", stroke: "color" }),
      tip(points, "x", "y", said),
    ],
  };
}

function cost(points, group) {
  const said = (at) => `${at.name}\n${at.x.toPrecision(3)} s, max ${group.score} ${at.y.toFixed(3)}`;
  return {
    x: { type: "log", label: "seconds of a fit" },
    y: { label: `max ${group.score}`, grid: true, zero: false },
    marks: [Plot.dot(points, { x: "x", y: "y", fill: "color", r: 5 }), tip(points, "x", "y", said)],
  };
}

for (const group of JSON.parse(document.getElementById("data").textContent)) {
  for (const draw of [curves, cost]) {
    const place = document.getElementById(`${group.id}-${draw.name}-chart`);
    if (!place) continue;
    const points = group[draw.name].map(([dataset, ranker, x, y]) => ({ dataset, ranker, x, y, ...group.rankers[ranker] }));
    const choice = document.createElement("select");
    choice.ariaLabel = "data set";
    for (const name of new Set(points.map((point) => point.dataset))) {
      choice.append(new Option(name || "mean over the data sets that all share", name));
    }
    let width = 0;
    const show = () => {
      const shown = points.filter((point) => point.dataset === choice.value);
      place.replaceChildren(choice, Plot.plot({ width, height: 380, marginLeft: 50, ...draw(shown, group) }));
    };
    choice.addEventListener("change", show);
    new ResizeObserver(() => {
      if (place.clientWidth !== width && place.clientWidth > 0) {
        width = place.clientWidth;
        show();
      }
    }).observe(place);
  }
}
