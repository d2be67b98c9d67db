// What the server has told, and the stream that it comes by.

export const store = {
  phase: 'connecting', // 'live', 'lost', 'login'
  lostSince: 0,
  lastHeard: 0, // by performance.now()
  status: null,
  root: '/',
  actions: false,
  recipes: new Map(), // by path
  history: [], // the oldest first
  ensemble: null,
  flashed: new Map(), // when a recipe changed hands, by path; by performance.now()
  version: 0, // changes with every frame
};

const historyLength = 100;
const patience = 6000; // ms without a sign of life
let source = null;
let offset = 0; // of the server's clock
let drawn = false;
let draw = () => {};
let retry = 0;

// now is the server's clock.
export function now() {
  return Date.now() + offset;
}

// redraw draws the page anew, once for each frame of the screen.
export function redraw() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    draw();
  });
}

// start follows the server. drawPage draws what is in the store.
export function start(drawPage) {
  draw = drawPage;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) disconnect();
    else connect();
  });
  setInterval(watch, 1000);
  connect();
}

function disconnect() {
  clearTimeout(retry);
  if (source) source.close();
  source = null;
}

// connect opens the stream anew.
export function connect() {
  disconnect();
  if (document.hidden) return;
  store.lastHeard = performance.now();
  source = new EventSource('/api/events');
  source.addEventListener('state', (e) => heard(onState, e));
  source.addEventListener('change', (e) => heard(onChange, e));
  source.addEventListener('alive', (e) => heard(onAlive, e));
  source.onerror = onError;
}

function heard(fn, event) {
  const message = JSON.parse(event.data);
  store.lastHeard = performance.now();
  if (store.phase !== 'live') store.lostSince = 0;
  store.phase = 'live';
  fn(message);
  redraw();
}

function onAlive(message) {
  offset = message.now - Date.now();
}

function onState(message) {
  store.root = message.root;
  store.actions = message.actions;
  store.recipes = new Map(message.recipes.map((r) => [r.path, r]));
  store.history = message.history;
  store.ensemble = message.ensemble || store.ensemble;
  store.status = message;
  store.flashed.clear();
  store.version++;
}

function onChange(message) {
  onAlive(message);
  for (const path of message.gone) {
    store.recipes.delete(path);
    store.flashed.delete(path);
  }
  for (const recipe of message.recipes) {
    const before = store.recipes.get(recipe.path);
    if (before && recipe.grants > before.grants) store.flashed.set(recipe.path, performance.now());
    store.recipes.set(recipe.path, recipe);
  }
  const last = store.history.length ? store.history[store.history.length - 1].number : 0;
  store.history.push(...message.history.filter((hold) => hold.number > last));
  if (store.history.length > historyLength) store.history.splice(0, store.history.length - historyLength);
  if (message.ensemble) store.ensemble = message.ensemble;
  store.status = message;
  store.version++;
}

async function onError() {
  const failed = source;
  if (failed && failed.readyState !== EventSource.CLOSED) return; // it tries by itself
  disconnect();
  retry = setTimeout(connect, 2000);
  try {
    const answer = await fetch('/api/session?id=0x0');
    if (answer.status === 401) {
      clearTimeout(retry);
      store.phase = 'login';
      redraw();
    }
  } catch {
    // The server is away: it is tried again.
  }
}

let watched = Date.now();

// watch notices a server that has gone silent, and a machine that has slept, and lets ages grow.
function watch() {
  const slept = Date.now() - watched > patience;
  watched = Date.now();
  if (document.hidden) return;
  if (slept && store.phase !== 'login') {
    connect();
  } else if (store.phase === 'live' && performance.now() - store.lastHeard > patience) {
    store.phase = 'lost';
    store.lostSince = now() - (performance.now() - store.lastHeard);
    connect();
  } else if (store.phase === 'lost' && performance.now() - store.lastHeard > patience) {
    connect();
  }
  redraw();
}

// ask gets an answer of the server; the error is one that can be shown.
export async function ask(path, params) {
  const query = new URLSearchParams(params).toString();
  return answerOf(await reach(path + '?' + query));
}

// post sends a request.
export async function post(path, body) {
  return answerOf(await reach(path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  }));
}

async function reach(path, init) {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error('The server of this page does not answer.');
  }
}

async function answerOf(response) {
  const body = await response.json();
  if (response.ok) return body;
  if (response.status === 401 && store.phase === 'live') {
    store.phase = 'login';
    redraw();
  }
  throw new Error(body.error);
}

const resources = new Map();

// resource is the answer to a question, asked again when the store has changed, at most once for
// each period of ms. It has value, the last answer, and error. Those of other questions are
// forgotten.
export function resource(name, path, params, period) {
  const question = path + '?' + new URLSearchParams(params);
  let r = resources.get(name);
  if (!r || r.question !== question) {
    r = { question, value: null, error: '', version: -1, at: -Infinity, asking: false };
    resources.set(name, r);
  }
  if (!r.asking && r.version !== store.version && performance.now() - r.at >= period) {
    r.asking = true;
    r.version = store.version;
    ask(path, params).then((value) => {
      r.value = value;
      r.error = '';
    }, (error) => {
      r.error = error.message;
    }).finally(() => {
      r.asking = false;
      r.at = performance.now();
      redraw();
    });
  }
  return r;
}

// renew lets a resource be asked for again.
export function renew() {
  for (const r of resources.values()) {
    r.version = -1;
    r.at = -Infinity;
  }
  redraw();
}
