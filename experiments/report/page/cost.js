/* Cost against quality. */

class Cost extends Chart {
  start() {
    this.measure = Object.keys(this.data.cost)[0];
    this.dataset = "";
  }

  draw() {
    const { cost, rankers, measures } = this.data;
    if (!this.measure) return this.nothing("There is nothing to compare: no ranker is complete on any data set, or no times were kept.");
    const places = Object.keys(cost[this.measure]).filter((name) => name === "" || this.filters.has("dataset", name));
    if (!places.length) return this.nothing("The filters leave no data set.");
    if (!places.includes(this.dataset)) this.dataset = places[0];
    const shown = this.shownRankers();
    const points = cost[this.measure][this.dataset].filter(([place]) => shown[place]);
    const said = this.dataset === "" ? "all data sets that the compared rankers share" : this.dataset;
    const controls = make("div", { class: "controls" },
      select("quality", Object.keys(cost).map((key) => [key, measures[key]]), this.measure, (value) => {
        this.measure = value;
        this.redraw();
        this.box.querySelectorAll("select")[0].focus();
      }),
      select("on", places.map((name) => [name, name || "all shared data sets"]), this.dataset, (value) => {
        this.dataset = value;
        this.redraw();
        this.box.querySelectorAll("select")[1].focus();
      }));
    if (!points.length) return this.box.replaceChildren(controls, make("p", { class: "faint" }, "The filters leave no ranker."));
    const width = this.width, height = Math.max(280, Math.min(440, width * 0.6));
    const left = 50, right = 16, top = 14, bottom = 42;
    const [quick, slow] = extent(points.map(([, time]) => Math.log10(Math.max(time, 1e-9))), 0.5);
    const [low, high] = extent(points.map(([, , quality]) => quality), 0.01);
    const x = logarithmic([10 ** (quick - 0.1), 10 ** (slow + 0.1)], [left, width - right]);
    const margin = 0.08 * (high - low);
    const y = linear([low - margin, high + margin], [height - bottom, top]);
    const svg = this.canvas(height, `${measures[this.measure]} against seconds of a fit, ${said}`);
    svg.setAttribute("role", "group");
    for (const tick of y.ticks(6)) {
      svg.append(
        shape("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        shape("text", { class: "small", x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, plain(tick)));
    }
    for (const tick of x.ticks(Math.max(2, Math.floor((width - left - right) / 60)))) {
      svg.append(shape("text", { class: "small", x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, plain(tick)));
    }
    svg.append(
      shape("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
      shape("text", { class: "small", x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "seconds of a fit (logarithmic)"),
      shape("text", { class: "small", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, measures[this.measure]));
    const front = points.filter(([, , , best]) => best).sort((a, b) => a[1] - b[1] || a[2] - b[2]);
    if (front.length > 1) {
      const steps = front.map(([, time, quality], i) => (i ? `H${x(Math.max(time, 1e-9)).toFixed(1)}V${y(quality).toFixed(1)}` : `M${x(Math.max(time, 1e-9)).toFixed(1)} ${y(quality).toFixed(1)}`));
      svg.append(shape("path", { d: steps.join(""), fill: "none", stroke: "var(--front)", "stroke-width": 1.2, "stroke-dasharray": "4 3" }));
    }
    const taken = points.map(([, time, quality]) => ({ x: x(Math.max(time, 1e-9)) - 6, y: y(quality) - 6, w: 12, h: 12 }));
    const ordered = [...points].sort((a, b) => b[3] - a[3]);
    for (const [place, time, quality, best] of ordered) {
      const look = rankers[place];
      const told = `${look.label}: ${score(quality)}, ${seconds(time)}${best ? "; none is better at this cost" : ""}`;
      const at = [x(Math.max(time, 1e-9)), y(quality)];
      const link = shape("a", { href: look.href, "aria-label": told, "data-point": look.key },
        marker(look, at[0], at[1], best ? 6 : 4.5, { stroke: best ? "var(--front)" : null, "stroke-width": best ? 1.5 : null }), shape("title", {}, told));
      const label = this.label(look.label, at, taken, width - right, left);
      if (label) link.append(label);
      svg.append(link);
    }
    const best = listed(front.map(([place]) => rankers[place].label), 8);
    this.box.replaceChildren(controls, svg,
      make("p", { class: "faint" }, `Over ${said}${this.dataset === "" ? " (mean of the quality, geometric mean of the seconds)" : ""}. Ringed and joined: no other ranker is at least as good and as fast (${best}).`));
  }

  /** Put a name beside its point where nothing else is yet; none where there is no room. */
  label(text, [px, py], taken, right, left) {
    const w = textWidth(text, 11) + 2, h = 13;
    for (const [dx, dy] of [[8, -6], [-8 - w, -6], [-w / 2, -20], [-w / 2, 8], [8, 4], [8, -17], [-8 - w, 4]]) {
      const box = { x: px + dx, y: py + dy, w, h };
      const free = box.x > left && box.x + w < right + 12 && box.y > 0 &&
        taken.every((other) => box.x + w < other.x || other.x + other.w < box.x || box.y + h < other.y || other.y + other.h < box.y);
      if (free) {
        taken.push(box);
        return shape("text", { class: "small", x: box.x + 1, y: box.y + 10 }, text);
      }
    }
    return null;
  }
}
