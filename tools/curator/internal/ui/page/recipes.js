// The list of all recipes, by kind.

import { h } from './dom.js';
import { address, age, count, number, owner, recipeLink, visible, when, word } from './text.js';
import { now, store } from './store.js';
import { table } from './table.js';

// sections are the kinds of recipes, in the order of the page.
export const sections = [
  { id: 'lock', title: 'Locks', kinds: ['lock', 'read-write'], columns: locks() },
  { id: 'election', title: 'Elections', kinds: ['election'], columns: locks('Election', 'Leader', 'Leads for', 'Candidates') },
  {
    id: 'semaphore', title: 'Semaphores', kinds: ['semaphore'], columns: [
      ['Semaphore', 'main', pathOf], ['Leases', 'figure', leases], ['Holders', '', holders],
      ['Waiting', 'figure', (r) => number(r.waiting)], ['Changed hands', 'figure', granted],
    ],
  },
  {
    id: 'queue', title: 'Queues', kinds: ['queue', 'claims'], columns: [
      ['Queue', 'main', pathOf], ['Kind', '', (r) => (r.kind === 'claims' ? 'items being worked on' : r.variant || 'plain')],
      ['Items', 'figure', (r) => number(r.holding)], ['Oldest', 'figure', (r) => (r.holding && r.since ? age(now() - r.since) : '')],
    ],
  },
  {
    id: 'barrier', title: 'Barriers', kinds: ['barrier', 'double-barrier'], columns: [
      ['Barrier', 'main', pathOf], ['State', '', barrier],
      ['Members', 'figure', (r) => (r.kind === 'barrier' ? '' : number(r.holding))],
      ['Since', 'figure', (r) => (r.since ? age(now() - r.since) : '')],
    ],
  },
  {
    id: 'group', title: 'Groups', kinds: ['group'], columns: [
      ['Group', 'main', pathOf], ['Members', 'figure', (r) => number(r.holding)], ['Names', '', holders],
    ],
  },
  {
    id: 'service', title: 'Services', kinds: ['service'], columns: [
      ['Service', 'main', pathOf], ['Instances', 'figure', (r) => number(r.holding)], ['Addresses', '', addresses],
    ],
  },
  {
    id: 'counter', title: 'Counters', kinds: ['counter'], columns: [
      ['Counter', 'main', pathOf], ['Value', 'figure', (r) => r.value], ['Size', '', (r) => r.variant],
      ['Set', 'figure', (r) => when(r.since)],
    ],
  },
  { id: 'unclear', title: 'Unclear', kinds: ['unclear'], columns: [['Path', 'main', pathOf], ['What is wrong', '', (r) => r.problem]] },
];

// sectionOf returns the section that a recipe is in.
export function sectionOf(recipe) {
  return sections.find((s) => s.kinds.includes(recipe.kind));
}

function locks(title = 'Lock', holder = 'Holder', since = 'Held for', waiting = 'Waiting') {
  return [
    [title, 'main', pathOf], [holder, '', holderOf], [since, 'figure', heldFor], ['Token', 'figure', (r) => first(r, (c) => c.token)],
    [waiting, 'figure', (r) => number(r.waiting)], ['Changed hands', 'figure', granted],
  ];
}

function pathOf(r) {
  return recipeLink(r.path);
}

function first(r, fn) {
  return r.holders.length ? fn(r.holders[0]) : '';
}

function holderOf(r) {
  if (r.holding === 0) return h('span', { class: 'quiet' }, 'free');
  const role = r.holders[0].role;
  return [
    role ? h('span', { class: 'tag' }, role) : null, role ? ' ' : null, owner(r.holders[0]),
    r.holders[0].asked && h('span', { class: 'tag' }, 'asked'), r.holding > 1 ? ' and ' + count(r.holding - 1, 'other') : null,
  ];
}

function heldFor(r) {
  return first(r, held);
}

// held says for how long a holder has held; where that was not seen, it is at most so long.
export function held(c, most = '≤ ') {
  return (c.exact ? '' : most) + age(now() - c.held);
}

function granted(r) {
  if (!r.granted) return '';
  const fresh = performance.now() - (store.flashed.get(r.path) ?? -Infinity) < 2000;
  return [fresh && h('span', { class: 'tag' }, 'now'), fresh && ' ', age(now() - r.granted) + ' ago'];
}

function leases(r) {
  return r.max ? r.holding + ' of ' + r.max : number(r.holding);
}

const namesShown = 3;

function holders(r) {
  if (r.holding === 0) return h('span', { class: 'quiet' }, 'none');
  const names = r.holders.slice(0, namesShown).flatMap((c, i) => [i ? ', ' : null, owner(c)]);
  const more = r.holding - Math.min(r.holders.length, namesShown);
  return [names, more > 0 ? ' and ' + count(more, 'other') : null];
}

// serviceAddress writes where an instance is.
export function serviceAddress(s) {
  const port = s.port || s.sslPort;
  return [word(s.address + (port ? ':' + port : '')), s.disabled ? ' (disabled)' : null];
}

function addresses(r) {
  const list = r.holders.filter((c) => c.service).slice(0, namesShown);
  const more = r.holding - list.length;
  return [list.flatMap((c, i) => [i ? ', ' : null, serviceAddress(c.service)]), more > 0 ? ' and ' + count(more, 'other') : null];
}

function barrier(r) {
  if (r.kind === 'barrier') return 'closed';
  return r.open ? 'open' : 'filling';
}

// recipesView lists the recipes. Its parameters are kind, one section only, and find, a part of
// the path or of a name.
export function recipesView(params, go) {
  const kind = params.get('kind') || '';
  const find = params.get('find') || '';
  const wanted = find.toLowerCase();
  const matching = [...store.recipes.values()].filter((r) => !wanted || matches(r, wanted)).sort((a, b) => (a.path < b.path ? -1 : 1));
  const lists = sections.map((s) => ({ section: s, rows: matching.filter((r) => s.kinds.includes(r.kind)) }));
  const choices = [['', 'All', matching.length], ...lists.filter((l) => l.rows.length || l.section.id === kind)
    .map((l) => [l.section.id, l.section.title, l.rows.length])];
  return {
    title: 'Recipes',
    body: [
      h('h1', { tabindex: -1 }, 'Recipes', store.root === '/' ? null : [' below ', word(store.root)]),
      h('div', { class: 'tools', key: 'tools' },
        h('nav', { 'aria-label': 'Kinds of recipes', class: 'choices' }, choices.map(([id, title, n]) => h('a', {
          key: id, href: address('recipes', { kind: id, find }), 'aria-current': id === kind ? 'true' : null,
        }, title, ' ', h('span', { class: 'figure quiet' }, number(n))))),
        h('label', { class: 'find' }, h('span', null, 'Filter'), h('input', {
          type: 'search', id: 'filter', value: find, autocomplete: 'off', spellcheck: 'false',
          oninput: (e) => go(address('recipes', { kind, find: e.target.value }), true),
        }))),
      lists.filter((l) => l.rows.length && (!kind || kind === l.section.id)).map((l) => section(l.section, l.rows)),
      matching.length === 0 && h('p', { class: 'quiet', key: 'none' }, find ? 'No recipe has “' + visible(find) + '” in its path or in a name.'
        : 'There are no recipes below ' + visible(store.root) + ' now. They appear here when somebody uses one.'),
    ],
  };
}

function matches(r, text) {
  return r.path.toLowerCase().includes(text) || [...r.holders, ...r.waiters].some((c) => c.name.toLowerCase().includes(text));
}

function section(s, rows) {
  const time = performance.now();
  return h('section', { key: s.id, 'aria-labelledby': 'section-' + s.id },
    h('h2', { id: 'section-' + s.id }, s.title),
    table('recipes ' + s.id, s.title, s.columns, rows.map((r) => ({
      key: r.path, class: time - (store.flashed.get(r.path) ?? -Infinity) < 2000 ? 'changed' : null,
      cells: s.columns.map((column) => column[2](r)),
    }))));
}
