// The page: which view is shown, the header, signing in.

import { ensembleView, sessionView } from './ensemble.js';
import { h, render } from './dom.js';
import { historyView, recipeView } from './recipe.js';
import { recipesView } from './recipes.js';
import { treeView } from './tree.js';
import { onMore } from './table.js';
import { measure } from './timeline.js';
import { age, clock } from './text.js';
import { connect, now, post, redraw, start, store } from './store.js';

const views = {
  recipes: recipesView, recipe: recipeView, history: historyView, ensemble: ensembleView, tree: treeView, session: sessionView,
};

const tabs = [['recipes', 'Recipes'], ['history', 'History'], ['ensemble', 'Ensemble'], ['tree', 'Tree']];

const main = document.getElementById('main');
const top_ = document.getElementById('top');
let viewed = ''; // the view and its path, whose heading had the focus
let signIn = { error: '', busy: false };

function route() {
  const [name, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { name: views[name] ? name : 'recipes', params: new URLSearchParams(query || '') };
}

// go shows a view; with replace it takes the place of the present one in the browser's history.
function go(hash, replace) {
  if (replace) {
    history.replaceState(null, '', hash);
    redraw();
  } else {
    location.hash = hash;
  }
}

function draw() {
  const { name, params } = route();
  render(top_, header(name));
  if (store.phase === 'login') {
    document.title = 'Sign in · Curator';
    render(main, login());
    return;
  }
  if (!store.status || !store.status.loaded) {
    render(main, h('p', { class: 'notice', role: 'status' }, store.status ? store.status.why : 'Connecting…'));
    return;
  }
  const view = views[name](params, go);
  document.title = view.title + ' · Curator';
  render(main, view.body);
  focusHeading(name + ' ' + (params.get('path') || params.get('id') || ''));
}

// focusHeading puts the focus on the heading of another view, so that a screen reader reads it.
function focusHeading(id) {
  if (viewed === id) return;
  const first = viewed === '';
  viewed = id;
  const active = document.activeElement;
  if (!first && !(active && active.tagName === 'INPUT' && active.isConnected)) {
    window.scrollTo(0, 0);
    main.querySelector('h1')?.focus({ preventScroll: true });
  }
}

function header(name) {
  return [
    h('div', { class: 'bar', key: 'bar' },
      h('a', { class: 'brand', href: '#/recipes' }, 'Curator'),
      h('nav', { 'aria-label': 'Views', class: 'tabs' }, tabs.map(([id, title]) => h('a', {
        key: id, href: '#/' + id, 'aria-current': id === name ? 'page' : null,
      }, title, id === 'ensemble' && store.ensemble && store.ensemble.problems.length > 0 &&
        h('span', { class: 'badge', title: 'what is not healthy' }, ' ' + store.ensemble.problems.length)))),
      h('p', { class: 'state', role: 'status' }, state())),
    warning(),
  ];
}

function state() {
  switch (store.phase) {
    case 'live': return store.status && store.status.stale ? h('span', { class: 'dot old' }, 'Old') : h('span', { class: 'dot live' }, 'Live');
    case 'lost': return h('span', { class: 'dot old' }, 'Lost');
    case 'login': return 'Signed out';
  }
  return 'Connecting…';
}

function warning() {
  if (store.phase === 'lost') {
    return h('p', { class: 'notice', role: 'alert', key: 'warning' }, 'The server of this page has not answered since ' + clock(store.lostSince) +
      ', for ' + age(now() - store.lostSince) + '. What is shown is as it was then. It goes on by itself.');
  }
  const s = store.status;
  if (store.phase !== 'live' || !s || !s.stale) return null;
  return h('p', { class: 'notice', role: 'alert', key: 'warning' }, 'What is shown is as it was at ' + clock(s.stale) + ', ' + age(now() - s.stale) +
    ' ago. ' + s.why + ' It goes on by itself.');
}

function login() {
  const enter = () => exchange(document.getElementById('secret').value);
  return h('section', { class: 'login', key: 'login' },
    h('h1', { tabindex: -1 }, 'Sign in'),
    h('p', null, 'Open the address that curator ui has printed, or type the secret of it.'),
    h('label', { class: 'field' }, 'Secret', h('input', {
      id: 'secret', type: 'password', autocomplete: 'current-password', onkeydown: (e) => { if (e.key === 'Enter') enter(); },
    })),
    h('p', { role: 'alert', class: 'error' }, signIn.error),
    h('button', { class: 'primary', disabled: signIn.busy, onclick: enter }, 'Sign in'));
}

// exchange gets a cookie for the secret.
async function exchange(secret) {
  signIn = { error: '', busy: true };
  redraw();
  try {
    await post('/api/login', { secret });
    signIn = { error: '', busy: false };
    store.phase = 'connecting';
    connect();
  } catch (error) {
    signIn = { error: error.message, busy: false };
    store.phase = 'login';
  }
  redraw();
}

// begin takes the secret out of the address, where others could see it, and starts.
async function begin() {
  const secret = new URLSearchParams(location.hash.slice(1)).get('secret');
  if (secret !== null) {
    history.replaceState(null, '', '#/recipes');
    try {
      await post('/api/login', { secret });
    } catch (error) {
      signIn.error = error.message;
    }
  }
  onMore(redraw);
  measure(main, redraw);
  addEventListener('hashchange', redraw);
  addEventListener('keydown', onKey);
  document.querySelector('.skip').addEventListener('click', (e) => { // the address is that of the view
    e.preventDefault();
    main.focus();
  });
  redraw();
  start(draw);
}

// onKey has the keys of the whole page: / goes to the search, 1 to 4 to the views.
function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || ['INPUT', 'TEXTAREA', 'DIALOG'].includes(e.target.tagName) || document.querySelector('dialog[open]')) return;
  const tab = tabs[Number(e.key) - 1];
  if (tab) {
    go('#/' + tab[0]);
  } else if (e.key === '/') {
    const field = document.getElementById('filter') || document.getElementById('search');
    if (field) field.focus();
    else go('#/tree');
    e.preventDefault();
  }
}

begin();
