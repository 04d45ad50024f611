// Draws each picture from the JSON beside its place.
for (const data of document.querySelectorAll("script[data-picture]")) {
  const chart = JSON.parse(data.textContent);
  Plotly.newPlot(data.dataset.picture, chart.data, chart.layout, { responsive: true, displayModeBar: false });
}
