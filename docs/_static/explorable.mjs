// Charts with a slider on reading pages. Vega is loaded on pages that have one.
const places = document.querySelectorAll("[data-chart]");
if (places.length) await import("./vega.js");
for (const place of places) globalThis.comparisonCharts(place, JSON.parse(place.dataset.chart), {actions: false});
