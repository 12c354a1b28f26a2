/* Bring the page to life. */

const CHARTS = { ranks: Ranks, curves: Curves, pairs: Pairs, cost: Cost, similarity: Similarity, features: BestFeatures };

document.documentElement.classList.add("scripted");
for (const table of document.querySelectorAll("table.sortable")) sortable(table);
for (const group of document.querySelectorAll(".group")) {
  const data = DATA[group.dataset.group];
  const filters = new Filters(group, data);
  for (const box of group.querySelectorAll(".chart")) new CHARTS[box.dataset.chart](box, data, filters);
  rankerPages(group.querySelector(".pages"));
}
