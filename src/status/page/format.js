/* Numbers and instants as text. */

const none = '\u2013';

function rateText(count) {
  const rate = count.per_second;
  if (rate === null) return none;
  if (rate === 0) return '0';
  return rate >= 100 ? Math.round(rate).toLocaleString('en') : rate < 0.1 ? '<0.1' : rate.toFixed(1);
}

function totalText(number) {
  return number.toLocaleString('en');
}

/* One number, or the range that it is in. */
function boundedText(most, error) {
  return error > 0 ? `${totalText(most - error)}\u2013${totalText(most)}` : totalText(most);
}

function durationText(seconds) {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} \u00b5s`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(1)} s`;
}

function percentileText(durations, name) {
  return durations === null ? none : durationText(durations[name]);
}

function ageText(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 2 * 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} days`;
}

function timeText(unixSeconds) {
  return new Date(unixSeconds * 1000).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
}
