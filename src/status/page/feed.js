/* Reads the events, with the token in a header, which EventSource cannot send. Starts the page. */

const longestSilence = 5000;
const slowestRetry = 10000;

let token = '';  // in memory only
let controller = null;
let failures = 0;
let retryTimer = 0;
let startedAt = null;
let charts, tables;

function byId(id) { return document.getElementById(id); }

function showFeed(text, isLost) {
  const feed = byId('feed');
  setText(feed, text);
  feed.className = isLost ? 'lost' : '';
  byId('live').classList.toggle('stale', isLost);
}

function show(status) {
  if (status.started_at !== startedAt) points = [];
  startedAt = status.started_at;
  byId('login').hidden = true;
  byId('live').hidden = false;
  const state = byId('state');
  state.hidden = false;
  setText(state, status.state);
  state.className = status.state === 'ready' ? 'badge' : 'badge bad';
  setText(byId('about'), `${status.version}, up ${ageText(status.at - status.started_at)}`);
  const problems = byId('problems');
  problems.hidden = status.degraded.length === 0;
  if (JSON.stringify([...problems.children].map(item => item.textContent)) !== JSON.stringify(status.degraded)) {
    problems.replaceChildren(...status.degraded.map(text => {
      const item = document.createElement('li');
      item.textContent = text;
      return item;
    }));
  }
  setText(byId('over'), status.traffic.over === null ? 'the last seconds' :
    `the last ${Math.round(status.traffic.over)} seconds`);
  showCharts(charts, status);
  showTables(tables, status);
  showAllFacts(status);
  showFeed('live', false);
}

function askForToken(refusal) {
  token = '';
  byId('live').hidden = true;
  byId('state').hidden = true;
  setText(byId('about'), '');
  showFeed('', false);
  byId('login').hidden = false;
  setText(byId('refusal'), refusal);
  byId('token').focus();
}

function connectLater(text) {
  failures += 1;
  const wait = Math.min(1000 * failures, slowestRetry);
  showFeed(text, true);
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, wait);
}

/* Calls `take` with the data of each event until the response ends or nothing comes for a while. */
async function readEvents(body, take) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const silence = setTimeout(() => controller.abort(), longestSilence);
    const {done, value} = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    text += decoder.decode(value, {stream: true});
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith('data: ')) take(event.slice(6));
    }
  }
}

async function detailOf(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `the admin server answered ${response.status}`;
  }
}

async function connect() {
  clearTimeout(retryTimer);
  if (controller !== null) controller.abort();
  const mine = controller = new AbortController();
  let lost = 'connection lost, connecting again';
  try {
    const response = await fetch('v1/status/events', {
      headers: token === '' ? {} : {Authorization: `Bearer ${token}`}, cache: 'no-store', credentials: 'omit',
      signal: mine.signal,
    });
    if (response.status === 401) return askForToken(token === '' ? '' : 'This token is not accepted.');
    if (response.status !== 200) throw new Error(lost = await detailOf(response));
    await readEvents(response.body, data => { failures = 0; show(JSON.parse(data)); });
  } catch {
    // The reason is in `lost`.
  }
  // Unless a later connection has replaced this one, or the page is hidden.
  if (mine === controller) connectLater(lost);
}

/* A browser opens few connections to one server, so a page that nobody sees has none. */
function onVisibility() {
  if (!byId('login').hidden) return;
  if (document.visibilityState === 'visible') {
    if (controller === null) connect();
    return;
  }
  clearTimeout(retryTimer);
  const open = controller;
  controller = null;
  if (open !== null) open.abort();
}

function onToken(event) {
  event.preventDefault();
  const field = byId('token');
  token = field.value.trim();
  field.value = '';
  if (!/^[\x21-\x7e]+$/.test(token)) return askForToken('This token is not accepted.');
  connect();
}

function start() {
  charts = makeCharts();
  tables = makeTables();
  byId('login').addEventListener('submit', onToken);
  document.addEventListener('visibilitychange', onVisibility);
  if (document.documentElement.dataset.access === 'token') askForToken('');
  else connect();
}

// A page that was saved as a file has no server: its plain tables stay.
if (location.protocol !== 'file:') {
  byId('plain').hidden = true;
  document.addEventListener('DOMContentLoaded', start);
}
