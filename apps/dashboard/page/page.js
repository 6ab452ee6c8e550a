'use strict';
// The dashboard. Asks the server that it came from, and nobody else; changes nothing there. Text
// from the server becomes text nodes only.

// Okabe and Ito's colours, which the colour-blind tell apart; lighter ones on dark paper.
const kRunColours = {
  light: ['#0072b2', '#c04f00', '#008060', '#a64d85', '#8a6d00', '#3b6fd4', '#5f5f5f', '#7a3ea8'],
  dark: ['#56b4e9', '#ff8f45', '#2fd0a0', '#e79ac6', '#e6c229', '#8fb0ff', '#b5b5b5', '#c79bf0'],
};
const kItemColours = ['#56b4e9', '#e69f00', '#35b597', '#f0e442', '#e08fbb', '#8fb0ff', '#ff8f45', '#b6c97a', '#c9b8f0', '#c2b59b', '#7fd6e0', '#f2a6a0'];
const kRunsEvery = 2000;    // milliseconds
const kCurvesEvery = 4000;
const kLately = 14;         // decisions in the strip

const dark = matchMedia('(prefers-color-scheme: dark)');
const byId = (id) => document.getElementById(id);
const runColour = (k) => { const all = kRunColours[dark.matches ? 'dark' : 'light']; return all[k % all.length]; };
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const itemColour = (id) => kItemColours[((id % kItemColours.length) + kItemColours.length) % kItemColours.length];

// An element with attributes and children; null children are left out.
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'style') node.style.cssText = value; else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}
function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// --- numbers for people ---
function amount(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  const size = Math.abs(x);
  if (size >= 1e9) return (x / 1e9).toFixed(2) + ' G';
  if (size >= 1e6) return (x / 1e6).toFixed(2) + ' M';
  if (size >= 1e4) return (x / 1e3).toFixed(1) + ' k';
  if (size >= 100 || Number.isInteger(x)) return x.toFixed(0);
  return x === 0 ? '0' : Number(x.toPrecision(3)).toString();
}
const score = (x) => (x === null || x === undefined ? '–' : Math.abs(x) >= 999.5 ? amount(x) : x.toPrecision(3));
function span(seconds) {
  const s = Math.round(seconds);
  if (s < 120) return s + ' s';
  if (s < 7200) return Math.floor(s / 60) + ' min';
  return s < 172800 ? (s / 3600).toFixed(1) + ' h' : (s / 86400).toFixed(1) + ' d';
}
const at = (object, path) => path.split('/').reduce((o, key) => (o === null || o === undefined ? undefined : o[key]), object);

// --- the server ---
let token = null;
try { token = sessionStorage.getItem('pacml-token'); } catch { token = null; }
class NeedsToken extends Error {}
async function ask(path) {
  const answer = await fetch(path, { headers: token ? { Authorization: 'Bearer ' + token } : {}, cache: 'no-store' });
  if (answer.status === 401) throw new NeedsToken();
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(body && body.error ? body.error : 'the server answered ' + answer.status);
  return { status: answer.status, body };
}
byId('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value.trim();
  try { sessionStorage.setItem('pacml-token', token); } catch { /* asked for again next time */ }
  watchRuns(true);
});

// --- the runs ---
// What is read of a line of metrics. Anybody may have written it: what is of another kind is as if it
// were not there, so that one odd run hides no other one.
const kScore = { name: 'string', score: 'number' };
const kLine = {
  decisions: 'number', seconds: 'number', decisions_per_second: 'number', updates: 'number', updates_per_second: 'number', actors: 'number',
  entropy: 'number', queue_depth: 'number', resident_bytes: 'number', limiter: 'string', learner_waits: 'boolean', evaluating: 'boolean',
  policy_lag: { p50: 'number', p99: 'number' },
  faults: { checkpoint_failures: 'number', metrics_failures: 'number', last: 'string' },
  evaluation: { objective: 'string', better: 'string', best: 'number', baseline: kScore, baselines: [kScore] },
  peers: [{ actor: 'number', decisions: 'number', silent_seconds: 'number', weights: 'number', acts: 'boolean' }],
  replay: { shards: 'number', items: 'number', each: [{ joined: 'boolean', silent_seconds: 'number', late: 'boolean', items: 'number', owed: 'number', inserted: 'number' }] },
  replicas: { together: 'number', groups: 'number', decisions: ['number'] },
};
function ofKind(value, kind) {
  if (typeof kind === 'string') return typeof value === kind ? value : undefined;
  if (Array.isArray(kind)) return Array.isArray(value) ? value.map((v) => ofKind(v, kind[0])).filter((v) => v !== undefined) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.keys(kind).map((key) => [key, ofKind(value[key], kind[key])]).filter(([, v]) => v !== undefined));
}
let runs = [];
const rates = [];  // of each run: {seconds, counts: {process: n}, perSecond: {process: r}}

function noteRates(k, line) {
  const shards = at(line, 'replay/each') || [];
  const replicas = at(line, 'replicas/decisions') || [];
  // What each process has counted, by a name of its own.
  const counts = Object.fromEntries([
    ...(line.peers || []).map((peer) => ['actor ' + peer.actor, peer.decisions]),
    ...shards.flatMap((shard, s) => (shard.joined && shard.inserted ? [['shard ' + s, shard.inserted]] : [])),
    ...replicas.map((decisions, r) => ['replica ' + r + ' of group ' + line.replicas.groups, decisions])]);
  const before = rates[k];
  if (before && before.seconds === line.seconds) return;
  const perSecond = {};
  const time = before ? line.seconds - before.seconds : 0;
  for (const [name, count] of Object.entries(counts)) {
    const then = before && before.counts[name];
    if (then !== undefined && time > 0 && count >= then) perSecond[name] = (count - then) / time;
  }
  rates[k] = { seconds: line.seconds, counts, perSecond };
}

function gainText(evaluation) {
  const base = evaluation.baseline && evaluation.baseline.score;
  if (typeof base !== 'number' || base === 0 || typeof evaluation.best !== 'number') return null;
  const change = (evaluation.best - base) / Math.abs(base);
  const better = evaluation.better === 'higher' ? change > 0 : change < 0;
  const words = Math.abs(change) < 5e-4 ? 'the same as' : Math.round(Math.abs(change) * 1000) / 10 + ' % ' + (change < 0 ? 'below' : 'above');
  return el('small', {}, ' ', el('span', { class: better ? 'good' : 'bad' }, (better ? '✓ ' : '✗ ') + words),
    ' the best baseline, ' + evaluation.baseline.name + ' (' + score(base) + ')');
}

function runCard(run, k) {
  const line = run.newest || {};
  const evaluation = line.evaluation || {};
  const training = run.state === 'training';
  const silent = run.silent_seconds !== undefined ? span(run.silent_seconds) : null;
  const state = training ? (run.silent_seconds > 30 ? 'training, but silent for ' + silent : 'training')
    : run.state === 'ended' && silent ? 'ended ' + silent + ' ago' : run.state;
  const fact = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
  const facts = [
    line.decisions !== undefined && fact('decisions', amount(line.decisions)),
    line.seconds !== undefined && fact('trained for', span(line.seconds)),
    training && fact('decisions/s', amount(line.decisions_per_second)),
    training && fact('actors', amount(line.actors)),
    training && at(line, 'policy_lag/p99') !== undefined && fact('lag p99', amount(at(line, 'policy_lag/p99'))),
    typeof line.entropy === 'number' && fact('entropy', score(line.entropy)),
  ];
  return el('article', { class: 'run', style: '--of-run:' + runColour(k) },
    el('h2', {}, run.name),
    el('p', { class: 'what' }, [state, run.task, run.algorithm, run.seed && 'seed ' + run.seed].filter(Boolean).join(' · ')),
    evaluation.objective && el('p', { class: 'score' }, score(evaluation.best), el('small', {}, ' ' + evaluation.objective.replaceAll('_', ' ')), gainText(evaluation)),
    !evaluation.objective && run.state !== 'no run' && el('p', { class: 'what' }, 'nothing has been evaluated yet'),
    el('dl', {}, facts),
    training && line.limiter && el('p', { class: 'limiter' }, 'Bottleneck: ' + line.limiter + '.'),
    (run.notes || []).map((note) => el('p', { class: 'note' }, note)));
}

function processTable(run, k) {
  const line = run.newest || {};
  const rows = [];
  const training = run.state === 'training';
  // `ok` is null where that is no question.
  const row = (name, health, ok, rate, lag, more) => el('tr', {}, el('td', {}, name),
    el('td', { class: ok === null ? null : ok ? 'good' : 'bad' }, (ok === null ? '' : ok ? '✓ ' : '✗ ') + health), el('td', { class: 'number' }, rate), el('td', { class: 'number' }, lag), el('td', {}, more));
  const failures = (at(line, 'faults/checkpoint_failures') || 0) + (at(line, 'faults/metrics_failures') || 0);
  const rateOf = (name, unit) => { const rate = rates[k] && rates[k].perSecond[name]; return training && rate ? amount(rate) + ' ' + unit : '–'; };
  const learns = line.evaluating ? 'evaluates its policy' : line.learner_waits ? 'waits for experience' : 'learns';
  rows.push(row('learner', training ? (failures ? failures + ' failures to write' : learns) : run.state, training ? !failures : null,
    training && line.updates_per_second !== undefined ? amount(line.updates_per_second) + ' updates/s' : '–',
    at(line, 'policy_lag/p50') !== undefined ? amount(at(line, 'policy_lag/p50')) + ' (p99 ' + amount(at(line, 'policy_lag/p99')) + ')' : '–',
    [line.resident_bytes && (line.resident_bytes / 1e6).toFixed(0) + ' MB', line.queue_depth !== undefined && amount(line.queue_depth) + ' waiting in its queue', failures && at(line, 'faults/last')].filter(Boolean).join(', ')));
  if (line.replicas) {
    rows.push(row('replicas', training ? line.replicas.together + ' together' : run.state, training || null, '–', '–', line.replicas.groups + (line.replicas.groups === 1 ? ' group' : ' groups') + ' so far'));
    for (const [r, decisions] of (training && line.replicas.decisions || []).entries()) {
      rows.push(row('replica ' + r, r === 0 ? 'leads' : 'learns with it', true, rateOf('replica ' + r + ' of group ' + line.replicas.groups, 'decisions/s'), '–', decisions ? amount(decisions) + ' decisions in this life' : ''));
    }
  }
  if (line.replay) {
    rows.push(row('replay shards', training ? line.replay.shards + ' connected' : run.state, training ? line.replay.shards > 0 : null, '–', '–', amount(line.replay.items) + ' items'));
    for (const [s, shard] of (training && line.replay.each || []).entries()) {
      const [health, ok] = !shard.joined ? ['is not there', false] : shard.silent_seconds > 10 ? ['silent for ' + span(shard.silent_seconds), false]
        : shard.late ? ['owes draws: waits for actors', null] : ['serves', true];
      rows.push(row('shard ' + s, health, ok, rateOf('shard ' + s, 'items/s in'), '–', shard.joined ? amount(shard.items) + ' items, ' + amount(shard.owed) + ' requests under way' : ''));
    }
  }
  for (const peer of training ? line.peers || [] : []) {
    const quiet = peer.silent_seconds > 10;
    rows.push(row('actor ' + peer.actor, quiet ? 'silent for ' + span(peer.silent_seconds) : peer.acts === false ? 'waits for the learner' : 'acts', !quiet,
      rateOf('actor ' + peer.actor, 'decisions/s'),
      peer.weights === undefined || line.updates === undefined ? '–' : amount(Math.max(0, line.updates - peer.weights)),
      peer.decisions ? amount(peer.decisions) + ' decisions in this life' : ''));
  }
  const unseen = (line.actors || 0) - (line.peers || []).length;
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Processes of ' + run.name }, el('table', {},
    el('caption', {}, run.name + (training && unseen > 0 ? ': and ' + unseen + ' more actors' : '')),
    el('thead', {}, el('tr', {}, ['process', 'state', 'rate', 'lag, versions', 'besides'].map((h, i) => el('th', { scope: 'col', class: i === 2 || i === 3 ? 'number' : null }, h)))),
    el('tbody', {}, rows)));
}

let settingsShown = '';
function showSettings() {
  const key = JSON.stringify(runs.map((run) => [run.name, run.settings]));
  if (key === settingsShown) return;
  settingsShown = key;
  const all = new Map();  // key: {fallback, values}
  runs.forEach((run, k) => {
    for (const [name, here, there] of run.settings) {
      if (!all.has(name)) all.set(name, { fallback: there, values: [] });
      all.get(name).values[k] = here;
    }
  });
  const rows = [...all].map(([name, { fallback, values }]) => el('tr', {}, el('th', { scope: 'row' }, el('code', {}, name)), el('td', {}, el('code', {}, fallback)),
    runs.map((run, k) => el('td', { class: values[k] === undefined ? 'same' : null }, el('code', {}, values[k] === undefined ? fallback : values[k])))));
  byId('settings-table').replaceChildren(rows.length === 0 ? el('p', {}, 'None.') : el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Settings' },
    el('table', {}, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'setting'), el('th', { scope: 'col' }, 'default'), runs.map((run) => el('th', { scope: 'col' }, run.name)))), el('tbody', {}, rows))));
}

function showRuns() {
  byId('runs').replaceChildren(...runs.map(runCard));
  byId('process-tables').replaceChildren(...runs.map(processTable));
  showSettings();
  offerEpisodes();
  document.title = runs.length === 1 ? runs[0].name + ' · pacml' : 'pacml';
}

let runsTimer = null;
async function watchRuns(now = false) {
  clearTimeout(runsTimer);
  let again = kRunsEvery;
  if (now || !document.hidden) {
    try {
      runs = (await ask('/dashboard/runs')).body.map((run) => ({ ...run, newest: ofKind(run.newest, kLine) || {} }));
      byId('token-form').hidden = true;
      byId('state').textContent = new Date().toLocaleTimeString() + (runs.some((run) => run.state === 'training') ? '' : ', nothing trains');
      runs.forEach((run, k) => noteRates(k, run.newest));
      showRuns();
      if (now || !curvesWatched) watchCurves();
    } catch (error) {
      if (error instanceof NeedsToken) {
        byId('token-form').hidden = false;
        byId('state').textContent = token ? 'This is not the token.' : 'These pages ask for a token.';
        return;
      }
      byId('state').textContent = 'No answer since ' + new Date().toLocaleTimeString() + ': the learner may be starting again.';
      again = 2 * kRunsEvery;
    }
  }
  runsTimer = setTimeout(watchRuns, again);
}

// --- curves ---
const kCharts = [
  { id: 'objective', title: 'objective', wide: true },
  { id: 'return', title: 'return of episodes', keys: [['return', '']] },
  { id: 'losses', title: 'losses', keys: [['loss', 'all'], ['policy_loss', 'policy'], ['value_loss', 'value']] },
  { id: 'entropy', title: 'entropy', unit: 'of the largest possible', keys: [['entropy', '']] },
  { id: 'values', title: 'values', keys: [['explained_variance', 'explained variance'], ['q_value', 'mean Q']] },
  { id: 'speed', title: 'speed', unit: 'per second', keys: [['decisions_per_second', 'decisions'], ['samples_per_second', 'samples']], zero: true },
  { id: 'lag', title: 'policy lag', unit: 'versions', keys: [['policy_lag/p50', 'median'], ['policy_lag/p99', 'p99'], ['policy_lag/max', 'most']], zero: true },
  { id: 'queue', title: 'waiting to be learned from', unit: 'messages or batches', keys: [['queue_depth', '']], zero: true },
  { id: 'stale', title: 'left out', unit: 'decisions, updates', keys: [['stale', 'too old'], ['unfinished', 'of unfinished episodes'], ['skipped', 'updates not finite']], zero: true, unlessZero: true },
];
const kDashes = [[], [6, 4], [2, 3]];
let curves = [];
const charts = new Map();

function points(columns, key) {
  const xs = columns[byId('axis').value] || [];
  const ys = columns[key] || [];
  const out = [];
  for (let i = 0; i < ys.length; ++i) {
    if (xs[i] !== null && xs[i] !== undefined && ys[i] !== null) out.push({ x: xs[i], y: ys[i] });
  }
  return out;
}
function dataset(data, colour, dash, label, width = 1.8) {
  return { data, label, borderColor: colour, backgroundColor: colour, borderDash: dash, borderWidth: width, pointRadius: data.length < 2 ? 3 : 0, pointHitRadius: 6, tension: 0 };
}
const named = (k, label) => (runs.length > 1 ? runs[k].name + (label ? ', ' + label : '') : label);

const objectiveOf = (run) => at(run.newest || {}, 'evaluation/objective');

// Figures of different objectives say nothing of one another: one is drawn.
function objectiveSets(objective) {
  const sets = [];
  const levels = [];  // to be drawn, or written below
  runs.forEach((run, k) => {
    const columns = (curves[k] || { columns: {} }).columns;
    const evaluation = (run.newest || {}).evaluation || {};
    if (evaluation.objective !== objective) return;
    const lately = points(columns, 'episode/' + evaluation.objective);
    const held = points(columns, 'evaluation/score');
    if (lately.length) sets.push(dataset(lately, runColour(k) + '80', [], named(k, 'actors’ episodes'), 1));
    if (held.length) sets.push(dataset(held, runColour(k), [], named(k, 'held-out episodes'), 2.5));
    for (const { name, score: level } of evaluation.baselines || (evaluation.baseline ? [evaluation.baseline] : [])) {
      if (typeof level !== 'number') continue;
      levels.push({ run: k, name, level, best: evaluation.baseline && name === evaluation.baseline.name });
    }
  });
  return { sets, levels };
}

// Writes the names of levels at the right edge, as far as there is room.
const levelNames = {
  id: 'levelNames',
  afterDatasetsDraw(chart, _, options) {
    const { ctx, chartArea, scales } = chart;
    let taken = [];
    ctx.save();
    ctx.font = '11px system-ui, sans-serif';
    ctx.textAlign = 'right';
    for (const { run, name, level, best } of options.levels || []) {
      if (runs.length > 1 && !best) continue;
      const y = scales.y.getPixelForValue(level);
      if (y < chartArea.top || y > chartArea.bottom) continue;
      const ink = runs.length > 1 ? runColour(run) : best ? css('--ink') : css('--soft');
      ctx.strokeStyle = ink;
      ctx.setLineDash(best ? [7, 4] : [2, 4]);
      ctx.lineWidth = best ? 1.6 : 1;
      ctx.beginPath(); ctx.moveTo(chartArea.left, y); ctx.lineTo(chartArea.right, y); ctx.stroke();
      if (taken.some((other) => Math.abs(other - y) < 13)) continue;
      taken.push(y);
      ctx.fillStyle = ink;
      ctx.fillText(name + ' ' + score(level), chartArea.right - 3, y - 4);
    }
    ctx.restore();
  },
};

function drawChart(definition, sets, levels) {
  const empty = sets.every((set) => set.data.length === 0) || (definition.unlessZero && sets.every((set) => set.data.every((p) => p.y === 0)));
  let entry = charts.get(definition.id);
  if (empty) {
    if (entry) entry.figure.hidden = true;
    return;
  }
  if (!entry) {
    const canvas = el('canvas', { role: 'img' });
    const figure = el('figure', { class: definition.wide ? 'wide' : null, id: 'chart-' + definition.id },
      el('figcaption', {}), el('div', { class: 'plot' }, canvas), el('ul', { class: 'key' }), definition.id === 'objective' && el('div', { class: 'baselines' }));
    byId('charts').append(figure);
    const chart = new Chart(canvas, {
      type: 'line', data: { datasets: [] }, plugins: [levelNames],
      options: {
        animation: false, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales: { x: { type: 'linear', ticks: { maxTicksLimit: 7, maxRotation: 0 } }, y: { ticks: { maxTicksLimit: 6 } } },
        plugins: { legend: { display: false }, levelNames: { levels: [] } },
      },
    });
    entry = { figure, chart, canvas };
    charts.set(definition.id, entry);
  }
  const { figure, chart, canvas } = entry;
  figure.hidden = false;
  const time = byId('axis').value === 'seconds';
  const { options } = chart;
  chart.data.datasets = sets.filter((set) => set.data.length > 0);
  for (const axis of ['x', 'y']) {
    options.scales[axis].grid = { color: css('--grid'), borderColor: css('--line') };
    options.scales[axis].ticks.color = css('--soft');
  }
  const tick = (x) => (Math.abs(x) < 100 ? String(Number(x.toPrecision(4))) : amount(x).replace(/\.0+(?= |$)/, ''));
  options.scales.x.ticks.callback = (x) => (time ? span(x) : tick(x));
  options.scales.y.ticks.callback = tick;
  options.scales.y.beginAtZero = Boolean(definition.zero);
  options.plugins.tooltip = { callbacks: { title: (items) => (items.length ? (time ? span(items[0].parsed.x) : amount(items[0].parsed.x) + ' decisions') : ''), label: (item) => ' ' + [item.dataset.label, score(item.parsed.y)].filter(Boolean).join(': ') } };
  options.plugins.levelNames = { levels };
  if (definition.id === 'objective') {
    // What happened in the first moments would hide the rest; it may leave the picture.
    const late = chart.data.datasets.flatMap((set) => set.data.slice(Math.floor(set.data.length / 4)).map((p) => p.y));
    const seen = late.concat(levels.filter((l) => l.best).map((l) => l.level));
    const low = Math.min(...seen), high = Math.max(...seen), room = (high - low || Math.abs(high) || 1) * 0.08;
    options.scales.y.min = low - room;
    options.scales.y.max = high + room;
  }
  chart.update('none');
  const caption = figure.querySelector('figcaption');
  caption.replaceChildren(definition.title, el('span', {}, definition.unit ? ', ' + definition.unit : ''));
  figure.querySelector('.key').replaceChildren(...chart.data.datasets.filter((set) => set.label).map((set) => el('li', {},
    el('i', { style: 'border-color:' + set.borderColor + ';border-top-style:' + (set.borderDash.length ? (set.borderDash[0] > 3 ? 'dashed' : 'dotted') : 'solid') }), set.label)));
  canvas.setAttribute('aria-label', definition.title + ': ' + chart.data.datasets.map((set) => (set.label || 'now') + ' ' + score(set.data[set.data.length - 1].y)).join(', '));
  if (definition.id === 'objective') {
    const isOther = (run) => objectiveOf(run) && objectiveOf(run) !== definition.objective;
    figure.querySelector('.baselines').replaceChildren(...runs.map((run, k) => el('ul', { class: 'levels', 'aria-label': 'Baselines on the held-out episodes of ' + run.name },
      el('li', {}, isOther(run) ? run.name + ':' : runs.length > 1 ? 'baselines of ' + run.name + ':' : 'baselines:'),
      levels.some((l) => l.run === k) ? null
        : el('li', {}, isOther(run)
          ? objectiveOf(run).replaceAll('_', ' ') + ' is not drawn here: a dashboard of its own shows it' : 'none has been scored'),
      levels.filter((l) => l.run === k).map((l) => el('li', {}, l.best ? el('b', {}, l.name) : l.name, ' ' + score(l.level))))));
  }
}

function drawCharts() {
  for (const definition of kCharts) {
    if (definition.id === 'objective') {
      const evaluation = runs.map((run) => (run.newest || {}).evaluation).find((e) => e && e.objective);
      if (!evaluation) continue;
      const { objective, better } = evaluation;
      const { sets, levels } = objectiveSets(objective);
      drawChart({ ...definition, objective, title: objective.replaceAll('_', ' '), unit: better + ' is better' }, sets, levels);
      continue;
    }
    const sets = [];
    runs.forEach((run, k) => {
      const columns = (curves[k] || { columns: {} }).columns;
      definition.keys.forEach(([key, label], d) => sets.push(dataset(points(columns, key), runColour(runs.length > 1 ? k : d), runs.length > 1 ? kDashes[d] : [], named(k, label))));
    });
    drawChart(definition, sets, []);
  }
}

let curvesTimer = null;
let curvesWatched = false;
async function watchCurves() {
  curvesWatched = true;
  clearTimeout(curvesTimer);
  let again = kCurvesEvery;
  if (!document.hidden) {
    for (let k = 0; k < runs.length; ++k) {
      if (curves[k] && !curves[k].more && runs[k].state !== 'training' && curves[k].seconds === (runs[k].newest || {}).seconds) continue;
      try {
        curves[k] = (await ask('/dashboard/curves/' + k)).body;
        curves[k].seconds = (runs[k].newest || {}).seconds;
        if (curves[k].more) again = 50;
      } catch { /* told by watchRuns */ }
    }
    drawCharts();
  }
  curvesTimer = setTimeout(watchCurves, again);
}
byId('axis').addEventListener('change', drawCharts);
dark.addEventListener('change', () => { showRuns(); drawCharts(); showStep(); });
document.addEventListener('visibilitychange', () => { if (!document.hidden) watchRuns(true); });

// --- an episode ---
let recordings = [];  // one, or two side by side
let step = 0;

function fill(select, names, kept) {
  if ([...select.options].map((o) => o.value).join() === names.map(([value]) => value).join()) return;
  const before = kept ?? select.value;
  select.replaceChildren(...names.map(([value, text]) => el('option', { value }, text)));
  if (names.some(([value]) => value === before)) select.value = before;
}
let besideChosen = false;
function offerEpisodes() {
  fill(byId('episode-run'), runs.map((run, k) => [String(k), run.name]));
  byId('episode-run-label').hidden = runs.length < 2;
  const run = runs[Number(byId('episode-run').value) || 0];
  const evaluation = (run && run.newest && run.newest.evaluation) || {};
  const names = (evaluation.baselines || []).map((baseline) => baseline.name);
  const others = runs.map((other, k) => ['run ' + k, other.name]).filter((_, k) => k !== Number(byId('episode-run').value));
  fill(byId('episode-beside'), [['', 'nothing'], ...names.map((name) => ['baseline ' + name, name]), ...others],
    besideChosen ? undefined : names.length ? 'baseline ' + names[0] : '');
}
byId('episode-beside').addEventListener('change', () => { besideChosen = true; });
byId('episode-run').addEventListener('change', () => { besideChosen = false; offerEpisodes(); });

// Some take minutes to play, beside a training that comes first.
async function fetchEpisode(path) {
  for (let wait = 200; ; wait = Math.min(2000, wait * 1.1)) {
    try {
      const { status, body } = await ask(path);
      if (status === 200 && body) return body;
    } catch (error) {
      // A server that does not answer, which watchRuns tells, may be back in a moment.
      if (!(error instanceof TypeError)) throw error;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}
byId('episode-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = byId('episode-form').querySelector('button');
  const run = byId('episode-run').value || '0';
  const number = byId('episode-number').value || '0';
  const [kind, ...rest] = byId('episode-beside').value.split(' ');
  const paths = ['/dashboard/episodes/' + run + '/' + number];
  if (kind === 'baseline') paths.push(paths[0] + '/' + encodeURIComponent(rest.join(' ')));
  if (kind === 'run') paths.push(paths[0] + '/run:' + rest[0]);
  button.disabled = true;
  byId('episode-state').textContent = 'Playing the episode …';
  try {
    const fetched = [];
    for (const path of paths) fetched.push(await fetchEpisode(path));
    recordings = fetched;
    step = 0;
    const longest = Math.max(...recordings.map((r) => r.decisions.length));
    byId('step').max = String(longest - 1);
    byId('episode-state').textContent = recordings.map((r) => r.policy + ': ' + r.decisions.length + ' decisions' + (r.left_out ? ' and ' + r.left_out + ' more' : '') + ', return ' + score(r.return)).join(' · ');
    byId('episode-body').hidden = false;
    byId('next-difference').hidden = recordings.length < 2;
    showStep();
    showActions();
  } catch (error) {
    byId('episode-state').textContent = error instanceof NeedsToken ? 'These pages ask for a token.' : 'This episode cannot be shown: ' + error.message;
  }
  button.disabled = false;
});

const textOf = (decision) => (decision.candidates.find((c) => c.action === decision.chosen) || { text: 'action ' + decision.chosen }).text;

function gridPicture(decision, grid) {
  const [blocks, rows, columns] = grid.shape;
  const out = [];
  let place = 0;
  for (let b = 0; b < blocks; ++b) {
    const lines = [];
    for (let r = 0; r < rows; ++r) {
      const cells = [];
      for (let c = 0; c < columns; ++c, ++place) {
        if (grid.items[place] === -2) continue;
        const item = decision.items[grid.items[place]];
        cells.push(el('span', {
          class: item ? 'place' : 'place free', style: item ? 'background:' + itemColour(item.id) : null,
          title: grid.of[0] + ' ' + b + ', ' + grid.of[1] + ' ' + r + ', ' + grid.of[2] + ' ' + c + ': ' + (item ? item.id + ', ' + item.label : 'free'),
        }, item ? String(item.id) : '·'));
      }
      lines.push(el('div', { class: 'row' }, cells));
    }
    out.push(el('div', { class: 'block' }, el('span', {}, grid.of[0] + ' ' + b), lines));
  }
  const free = grid.items.filter((i) => i === -1).length;
  const places = grid.items.filter((i) => i !== -2).length;
  const title = grid.title + (free ? ': ' + free + ' of ' + places + ' free' : '');
  return [el('h4', {}, title), el('div', { class: 'places', role: 'img', 'aria-label': title }, out)];
}

function itemList(decision) {
  const left = (item) => Math.max(0, item.ends - decision.now);
  return el('ul', { class: 'items' }, [...decision.items].sort((a, b) => left(a) - left(b)).map((item) => el('li', {},
    el('span', { class: 'swatch', style: 'background:' + itemColour(item.id) }, String(item.id)), el('span', {}, item.label),
    item.ends > item.begins && [el('span', { class: 'bar', 'aria-hidden': 'true' }, el('i', { style: 'width:' + 100 * Math.min(1, left(item) / (item.ends - item.begins)) + '%;background:' + itemColour(item.id) })),
      el('span', { class: 'number' }, amount(left(item)) + ' left')])));
}

function candidateTable(decision) {
  const has = (key) => decision.candidates.some((c) => c[key] !== undefined);
  const [chances, values, reasons] = [has('probability'), has('value'), has('reason')];
  const rows = decision.candidates.map((c) => el('tr', { class: c.action === decision.chosen ? 'chosen' : null },
    el('td', {}, (c.action === decision.chosen ? '▸ ' : '') + c.text),
    chances && el('td', {}, el('span', { class: 'bar', 'aria-hidden': 'true' }, el('i', { style: 'width:' + 100 * c.probability + '%' })), c.probability.toFixed(3)),
    values && el('td', { class: 'number' }, score(c.value)),
    reasons ? el('td', { class: c.kept ? 'good' : 'bad' }, (c.kept ? '✓ ' : '✗ ') + c.reason) : el('td', { class: 'number' }, score(c.reward))));
  return el('div', { class: 'scroll' }, el('table', { class: 'candidates' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'candidate'), chances && el('th', { scope: 'col' }, 'probability'), values && el('th', { scope: 'col', class: 'number' }, 'value'), el('th', { scope: 'col' }, reasons ? 'what would come of it' : 'reward'))),
    el('tbody', {}, rows), decision.left_out > 0 && el('caption', { style: 'caption-side:bottom' }, 'and ' + decision.left_out + ' less likely ones')));
}

// The last decisions as bars over time; a cross is one that came to nothing.
function strip(recording, until) {
  const last = recording.decisions.slice(Math.max(0, until - kLately), until).filter((d) => d.outcome);
  if (last.length === 0) return null;
  const now = recording.decisions[until] ? recording.decisions[until].now : last[last.length - 1].outcome.item.begins;
  const begin = Math.min(...last.map((d) => d.outcome.item.begins));
  const end = Math.max(now, ...last.map((d) => d.outcome.item.ends)) || 1;
  const width = 560, height = 15, x = (t) => 4 + (width - 8) * ((t - begin) / (end - begin || 1));
  const lanes = [];  // where each ends
  const marks = [];
  for (const { outcome } of last) {
    const { item } = outcome;
    const right = outcome.kept ? item.ends : item.begins + (end - begin) * 0.07;
    let lane = lanes.findIndex((ends) => ends <= item.begins);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = right;
    const y = 4 + lane * (height + 3), x0 = x(item.begins), w = Math.max(3, x(item.ends) - x0 - 1);
    const words = svg('title', {}, item.id + ', ' + item.label + ': ' + outcome.reason);
    if (outcome.kept) {
      marks.push(svg('g', {}, words, svg('rect', { x: x0, y, width: w, height, rx: 3, fill: itemColour(item.id) }),
        ...(w > 26 ? [svg('text', { x: x0 + 4, y: y + 11, class: 'on-bar' }, String(item.id))] : [])));
    } else {
      marks.push(svg('g', {}, words, svg('path', { class: 'lost', fill: 'none', d: `M${x0 + 1} ${y + 3}l9 9m0 -9l-9 9` }), svg('text', { x: x0 + 14, y: y + 11 }, String(item.id))));
    }
  }
  const high = 8 + lanes.length * (height + 3);
  const lost = last.filter((d) => !d.outcome.kept);
  return [el('h4', {}, 'the last ' + last.length + ' decisions, until ' + amount(now)),
    svg('svg', { class: 'gantt', viewBox: `0 0 ${width} ${high}`, role: 'img', 'aria-label': last.length + ' decisions, ' + lost.length + ' came to nothing' },
      ...marks, svg('line', { class: 'now', x1: x(now), x2: x(now), y1: 0, y2: high })),
    lost.length > 0 && el('ul', { class: 'lost-ones' }, lost.map(({ outcome: { item, reason } }) => el('li', {}, el('span', { class: 'bad' }, '✗ '), item.id + ', ' + item.label + ': ' + reason)))];
}

function panel(recording) {
  const i = Math.min(step, recording.decisions.length - 1);
  const decision = recording.decisions[i];
  const before = recording.decisions.slice(0, i).filter((d) => d.outcome);
  const lost = before.filter((d) => !d.outcome.kept).length;
  const total = recording.decisions.slice(0, i).reduce((sum, d) => sum + d.reward, 0);
  const previous = before.length ? before[before.length - 1].outcome : null;
  return el('article', { class: 'panel' },
    el('h3', {}, recording.policy),
    el('p', { class: 'tally' }, 'time ' + amount(decision.now) + ' · so far ' + (before.length ? before.length - lost + ' kept, ' + lost + ' lost · ' : '') + 'return ' + score(total)
      + (decision.value !== undefined ? ' · expects ' + score(decision.value) : '')),
    el('dl', { class: 'facts' }, decision.facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))),
    candidateTable(decision),
    decision.grids.map((grid) => gridPicture(decision, grid)),
    decision.items.length > 0 && itemList(decision),
    strip(recording, i),
    previous && el('p', { class: 'tally' }, 'Before: ' + previous.item.id + ', ' + previous.item.label + ', ', el('span', { class: previous.kept ? 'good' : 'bad' }, (previous.kept ? '✓ ' : '✗ ') + previous.reason)));
}

function showStep() {
  if (recordings.length === 0) return;
  byId('step').value = String(step);
  byId('step-text').textContent = 'decision ' + step + ' of ' + byId('step').max;
  byId('panels').replaceChildren(...recordings.map(panel));
}
function go(where) {
  const last = Number(byId('step').max);
  const seek = (wanted) => { for (let i = step + 1; i <= last; ++i) if (wanted(i)) return i; return step; };
  const chosen = (r, i) => (r.decisions[i] ? textOf(r.decisions[i]) : null);
  step = {
    first: () => 0, last: () => last, back: () => Math.max(0, step - 1), on: () => Math.min(last, step + 1),
    differs: () => seek((i) => chosen(recordings[0], i) !== chosen(recordings[1], i)),
    lost: () => seek((i) => recordings.some((r) => r.decisions[i] && r.decisions[i].outcome && !r.decisions[i].outcome.kept)),
  }[where]();
  showStep();
}
byId('steps').addEventListener('click', (event) => { const where = event.target.dataset && event.target.dataset.step; if (where) go(where); });
byId('step').addEventListener('input', () => { step = Number(byId('step').value); showStep(); });
document.addEventListener('keydown', (event) => {
  if (recordings.length === 0 || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const where = { ArrowLeft: 'back', ArrowRight: 'on' }[event.key];
  if (where) { event.preventDefault(); go(where); }
});

function showActions() {
  let name = textOf;
  const kinds = new Set(recordings.flatMap((r) => r.decisions.map(textOf)));
  if (kinds.size > 20) name = (decision) => textOf(decision).split(' ').slice(0, 2).join(' ');
  const counts = recordings.map((r) => r.decisions.reduce((all, d) => all.set(name(d), (all.get(name(d)) || 0) + 1), new Map()));
  const names = [...new Set(counts.flatMap((c) => [...c.keys()]))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const most = Math.max(...counts.flatMap((c) => [...c.values()]));
  byId('actions').replaceChildren(
    el('ul', { class: 'key' }, recordings.map((r, k) => el('li', {}, el('i', { style: 'border-color:' + runColour(k) }), r.policy))),
    el('div', { class: 'histogram' }, names.map((text) => [el('span', {}, text), el('span', { class: 'bars' }, counts.map((c, k) => el('div', {}, el('i', { style: `width:${85 * (c.get(text) || 0) / most}%;background:${runColour(k)}` }), String(c.get(text) || 0))))])));
}

watchRuns(true);
