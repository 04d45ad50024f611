// Draws each picture from the JSON beside its place, and anew when the place gets another width.
for (const data of document.querySelectorAll("script[data-picture]")) {
  const chart = JSON.parse(data.textContent);
  const place = document.getElementById(data.dataset.picture);
  Plotly.newPlot(place, chart.data, chart.layout, { displayModeBar: false });
  new ResizeObserver(() => Plotly.relayout(place, { autosize: true })).observe(place);
}
