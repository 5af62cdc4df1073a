/* Charts of the last two minutes: one point for each event, at its time. */

const shownSeconds = 120;
const longestStep = 3;
const svgNamespace = 'http://www.w3.org/2000/svg';
const chartWidth = 240;
const chartHeight = 64;

function svgElement(name, attributes, parent) {
  const element = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/* The smallest round number that is not below the value. */
function roundMaximum(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [1, 1.5, 2, 3, 4, 5, 6, 8]) if (value <= factor * power) return factor * power;
  return 10 * power;
}

class Chart {
  /* series: [{value: point => number or null, line, area}]: their styles, or undefined. text: number => text of the maximum. */
  constructor(id, series, least, text) {
    const figure = document.getElementById(id);
    this.now = figure.querySelector('b');
    this.scale = figure.querySelector('small');
    this.series = series;
    this.least = least;
    this.text = text;
    this.svg = svgElement('svg', {
      viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: 'none', role: 'img',
    }, figure.querySelector('div'));
    for (const y of [0.5, chartHeight - 0.5])
      svgElement('line', {x1: 0, x2: chartWidth, y1: y, y2: y}, this.svg);
    for (const one of series) {
      if (one.area) one.areaPath = svgElement('path', {class: `area ${one.area}`}, this.svg);
      if (one.line) one.linePath = svgElement('path', {class: one.line}, this.svg);
    }
  }

  show(points, nowText) {
    this.now.textContent = nowText;
    const values = points.flatMap(point => this.series.map(one => one.value(point))).filter(value => value !== null);
    const maximum = roundMaximum(Math.max(this.least, ...values));
    this.scale.textContent = `up to ${this.text(maximum)}`;
    this.svg.setAttribute('aria-label', `now ${nowText}`);
    for (const one of this.series) this.draw(one, points, maximum);
  }

  draw(one, points, maximum) {
    const end = points.length > 0 ? points[points.length - 1].at : 0;
    let line = '', area = '', first = null, last = null;
    const closeArea = () => {
      if (first !== null) area += `L${last} ${chartHeight}L${first} ${chartHeight}Z`;
      first = null;
    };
    let previousAt = -Infinity;
    for (const point of points) {
      const value = one.value(point);
      if (value === null) { closeArea(); previousAt = -Infinity; continue; }
      const x = (chartWidth * (1 - (end - point.at) / shownSeconds)).toFixed(1);
      const y = (chartHeight - 1 - (chartHeight - 2) * value / maximum).toFixed(1);
      const isNew = point.at - previousAt > longestStep;
      if (isNew) closeArea();
      line += `${isNew ? 'M' : 'L'}${x} ${y}`;
      area += isNew ? `M${x} ${chartHeight}L${x} ${y}` : `L${x} ${y}`;
      if (first === null) first = x;
      last = x;
      previousAt = point.at;
    }
    closeArea();
    if (one.line) one.linePath.setAttribute('d', line);
    if (one.area) one.areaPath.setAttribute('d', area);
  }
}

function makeCharts() {
  const perSecond = value => `${totalText(value)}/s`;
  return {
    denied: new Chart('chart-denied', [{value: point => point.denied, line: 'denied', area: 'denied'}], 1, perSecond),
    requests: new Chart('chart-requests', [
      {value: point => point.requests, line: 'requests', area: 'requests'},
      {value: point => point.errors, area: 'denied strong'}], 1, perSecond),
    duration: new Chart('chart-duration', [
      {value: point => point.p50, line: 'requests'},
      {value: point => point.p99, line: 'slow'}], 1e-3, durationText),
  };
}

let points = [];

function showCharts(charts, status) {
  const recent = status.recent;
  if (recent.over !== null && recent.over <= longestStep) {
    points.push({
      at: status.at, requests: recent.requests.per_second, denied: recent.denied.per_second,
      errors: recent.server_errors.per_second,
      p50: recent.duration === null ? null : recent.duration.p50,
      p99: recent.duration === null ? null : recent.duration.p99,
    });
  }
  points = points.filter(point => point.at > status.at - shownSeconds && point.at <= status.at);
  charts.denied.show(points, `${rateText(recent.denied)}/s`);
  charts.requests.show(points, `${rateText(recent.requests)}/s`);
  charts.duration.show(points, percentileText(recent.duration, 'p99'));
}
