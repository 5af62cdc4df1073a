/* The tables and lists. Every text is set as text. */

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* A cell: text, or {text, style, title}. */
function showCell(element, cell, style) {
  const {text, style: more = '', title = ''} = typeof cell === 'string' ? {text: cell} : cell;
  setText(element, text);
  element.title = title;
  element.className = `${style} ${more} ${text === '0' || text === none ? 'zero' : ''}`.trim();
}

function alarming(count) {
  return {text: rateText(count), style: count.per_second > 0 ? 'alarm' : ''};
}

/* A share as a bar, with its number. */
function showShare(element, part, whole) {
  if (element.childElementCount === 0) {
    const bar = document.createElement('span');
    bar.className = 'bar';
    bar.append(document.createElement('span'));
    element.append(bar, document.createElement('span'));
    element.className = 'share';
  }
  const share = whole > 0 ? part / whole : 0;
  element.firstChild.classList.toggle('empty', share === 0);
  element.firstChild.firstChild.style.width = `${100 * share}%`;
  setText(element.lastChild, share === 0 ? '0 %' : share < 0.01 ? '<1 %' : `${Math.round(100 * share)} %`);
  element.lastChild.className = share === 0 ? 'zero' : '';
}

class Table {
  /* columns: functions of a row that return a cell; or {share: row => [part, whole]}. The first one names the row. */
  constructor(id, columns) {
    const table = document.getElementById(id);
    this.frame = table.parentElement;
    this.body = table.tBodies[0];
    this.columns = columns;
    this.styles = [...table.tHead.rows[0].cells].map(cell => cell.className);
  }

  show(rows, omitted = 0) {
    this.frame.hidden = rows.length === 0;
    rows.forEach((row, index) => this.showRow(this.body.rows[index] || this.addRow(), row));
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    if (omitted > 0) {
      const head = document.createElement('th');
      head.scope = 'row';
      head.className = 'zero';
      head.textContent = `${totalText(omitted)} more`;
      this.body.insertRow().append(head);
    }
  }

  addRow() {
    const row = this.body.insertRow();
    this.columns.forEach((_, index) => {
      const cell = document.createElement(index === 0 ? 'th' : 'td');
      if (index === 0) cell.scope = 'row';
      row.append(cell);
    });
    return row;
  }

  showRow(element, row) {
    if (element.cells.length !== this.columns.length) {
      element.replaceWith(element = this.addRow());
    }
    this.columns.forEach((column, index) => {
      if (column.share) showShare(element.cells[index], ...column.share(row));
      else showCell(element.cells[index], column(row), this.styles[index]);
    });
  }
}

function serversCell(servers) {
  const down = servers.filter(server => !server.up).map(server => server.name);
  const up = servers.length - down.length;
  return {text: down.length > 0 ? `down: ${down.join(', ')}; ${up} up` : `${up} up`,
          style: down.length > 0 ? 'alarm' : '', title: servers.map(server => server.name).join(', ')};
}

function numberCell(number) {
  return number === null ? none : totalText(number);
}

function makeTables() {
  return {
    policies: new Table('policies', [
      row => row.shadow ? `${row.name} (shadow)` : row.name, row => row.algorithm, row => alarming(row.denied),
      {share: row => [row.denied.per_second, row.decisions.per_second]}, row => rateText(row.decisions),
      row => rateText(row.shadow_denied), row => rateText(row.delayed), row => alarming(row.errors),
      row => totalText(row.denied.total), row => totalText(row.decisions.total)]),
    top: new Table('top', [
      row => ({text: row.hash, style: 'key'}), row => row.identity, row => row.policy, row => row.route,
      row => ({text: boundedText(row.denied, row.error.denied), style: row.denied > 0 ? 'alarm' : ''}),
      row => boundedText(row.requests, row.error.requests)]),
    routes: new Table('routes', [
      row => row.name, row => alarming(row.denied), row => rateText(row.requests), row => rateText(row.client_errors),
      row => alarming(row.server_errors), row => percentileText(row.duration, 'p50'),
      row => percentileText(row.duration, 'p90'), row => percentileText(row.duration, 'p99'),
      row => totalText(row.denied.total), row => totalText(row.requests.total)]),
    upstreams: new Table('upstreams', [
      row => row.name, row => serversCell(row.servers), row => rateText(row.answered), row => alarming(row.failed),
      row => alarming(row.unhealthy), row => totalText(row.answered.total), row => totalText(row.failed.total)]),
    holds: new Table('holds', [
      row => row.name, row => numberCell(row.held), row => numberCell(row.queued), row => numberCell(row.leased)]),
    decisions: new Table('decisions', [
      row => row.name, row => rateText(row.decisions), row => percentileText(row.duration, 'p50'),
      row => percentileText(row.duration, 'p90'), row => percentileText(row.duration, 'p99'),
      row => totalText(row.decisions.total)]),
    nodes: new Table('nodes', [
      row => row.name, row => ({text: row.up ? 'up' : 'down', style: row.up ? '' : 'alarm'}),
      row => ({text: row.breaker, style: row.breaker === 'closed' ? '' : 'alarm'}), row => totalText(row.in_flight),
      row => totalText(row.in_flight_limit), row => rateText(row.decisions), row => alarming(row.errors), row => percentileText(row.latency, 'p50'),
      row => percentileText(row.latency, 'p99')]),
    keys: new Table('keys', [
      row => row.provider, row => row.age === null ? none : ageText(row.age), row => totalText(row.fetched),
      row => ({text: totalText(row.failed), style: row.problem ? 'alarm' : ''}), row => row.problem || none]),
    shadow: new Table('shadow', [
      row => ({text: row.state, style: row.state === 'dropped' ? 'alarm' : ''}), row => row.until,
      row => ({text: totalText(row.flips), style: row.state === 'dropped' && row.flips > 0 ? 'alarm' : ''}),
      row => totalText(row.decisions), row => row.max_flips, row => totalText(row.skipped),
      row => ({text: row.hash.slice(0, 12), style: 'key', title: row.hash}), row => row.reason || none]),
  };
}

function showTables(tables, status) {
  tables.policies.show(status.policies, status.policies_omitted);
  const top = status.top || {window: 0, keys: []};
  setText(document.getElementById('window'), ageText(top.window));
  tables.top.show(top.keys);
  tables.routes.show(status.routes, status.routes_omitted);
  tables.upstreams.show(status.upstreams, status.upstreams_omitted);
  tables.holds.show(status.policies.filter(row => [row.held, row.queued, row.leased].some(value => value !== null)));
  tables.decisions.show(status.decisions);
  tables.nodes.show(status.store.nodes || [], status.store.nodes_omitted);
  tables.keys.show(status.token_keys);
  const shadow = status.configuration.shadow_reload;
  tables.shadow.show(shadow.state === 'none' ? [] : [shadow]);
}

/* A list of names and values, in which absent values are left out. */
function showFacts(id, facts) {
  const list = document.getElementById(id);
  const shown = facts.filter(([, cell]) => cell !== null);
  while (list.children.length > 2 * shown.length) list.lastChild.remove();
  while (list.children.length < 2 * shown.length)
    list.append(document.createElement('dt'), document.createElement('dd'));
  shown.forEach(([name, cell], index) => {
    setText(list.children[2 * index], name);
    showCell(list.children[2 * index + 1], cell, '');
  });
}

function showAllFacts(status) {
  const {store, configuration} = status;
  const isShared = store.type === 'redis';
  const shared = number => isShared ? totalText(number) : null;
  showFacts('store', [
    ['type', store.type], ['state', {text: store.up ? 'up' : 'down', style: store.up ? '' : 'alarm'}],
    ['instances', shared(store.instances)],
    ['that differ', isShared ? {text: totalText(store.differing), style: store.differing > 0 ? 'alarm' : ''} : null],
    ['replicas', shared(store.replicas)], ['decided by on_failure', shared(store.fallbacks)],
    ['remembered denials', shared(store.remembered)], ['decided from leases', shared(store.leased)],
    ['keys in memory', totalText(store.memory_keys)], ['keys evicted', totalText(store.memory_evictions)]]);
  showFacts('configuration', [
    ['hash', {text: configuration.hash.slice(0, 12), style: 'key', title: configuration.hash}],
    ['loaded', timeText(configuration.loaded_at)], ['reloads', totalText(configuration.reloads)],
    ['failed reloads', totalText(configuration.failed_reloads)],
    ['needs a restart', configuration.restart_needed.length > 0 ?
      {text: configuration.restart_needed.join(', '), style: 'alarm'} : null]]);
  showFacts('instance', [
    ['version', status.version], ['started', timeText(status.started_at)], ['workers', totalText(status.workers)],
    ['client connections', totalText(status.connections)],
    ['resident memory', `${totalText(Math.round(status.resident_bytes / 1048576))} MiB`]]);
}
