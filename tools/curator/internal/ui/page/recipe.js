// One recipe: who has it, who waits, who had it before.

import { h } from './dom.js';
import { actionButtons } from './act.js';
import { age, clock, count, duration, nodeLink, number, owner, recipeLink, sessionLink, visible, when, word } from './text.js';
import { holdsOf, timeline } from './timeline.js';
import { held, sectionOf, serviceAddress } from './recipes.js';
import { now, resource, store } from './store.js';
import { table } from './table.js';

const nouns = {
  lock: 'Lock', 'read-write': 'Read-write lock', semaphore: 'Semaphore', election: 'Election', queue: 'Queue',
  claims: 'Items being worked on', barrier: 'Barrier', 'double-barrier': 'Double barrier', group: 'Group', service: 'Service',
  counter: 'Counter', unclear: 'Unclear',
};

// isHeld tells whether a recipe is one that some hold and others wait for.
export function isHeld(r) {
  return ['lock', 'read-write', 'semaphore', 'election'].includes(r.kind);
}

const summary = 20; // as many holders and waiters come without being asked for
const most = 1000;

export function recipeView(params) {
  const path = params.get('path') || '';
  const short = store.recipes.get(path);
  if (!short) {
    return {
      title: path,
      body: [h('h1', { tabindex: -1 }, word(path)), h('p', null, 'There is no recipe at this path now.'),
        h('p', null, 'See its node: ', nodeLink(path))],
    };
  }
  const all = short.holding > summary || short.waiting > summary;
  const full = all && resource('recipe', '/api/recipe', { path, count: most }, 500).value;
  const r = full && full.path === path && full.kind === short.kind ? { ...full, ...heads(short, full) } : short;
  return {
    title: visible(path),
    body: [
      h('p', { class: 'above', key: 'above' }, nouns[r.kind], ' · ', h('a', { href: '#/recipes?kind=' + sectionOf(r).id }, 'all ' + sectionOf(r).title.toLowerCase())),
      h('h1', { tabindex: -1 }, word(path)),
      h('p', { class: 'lead', key: 'lead' }, sentence(r)),
      isHeld(r) ? heldParts(r) : otherParts(r),
      h('p', { class: 'quiet', key: 'node' }, 'Its node: ', nodeLink(path)),
    ],
  };
}

// heads puts what came last in front of what was asked for.
function heads(short, full) {
  return {
    holders: short.holders.concat(full.holders.slice(summary)), waiters: short.waiters.concat(full.waiters.slice(summary)),
    holding: short.holding, waiting: short.waiting, grants: short.grants, granted: short.granted, max: short.max,
  };
}

function sentence(r) {
  switch (r.kind) {
    case 'barrier': return ['Closed since ', when(r.since), ', for ', age(now() - r.since), '. It opens when its node is deleted.'];
    case 'double-barrier': return [r.open ? 'Open: ' : 'Filling: ', count(r.holding, 'member'), '.'];
    case 'counter': return ['It is ', h('strong', { class: 'figure' }, r.value), ', ', r.variant, ', since ', when(r.since), '.'];
    case 'queue': return r.holding === 0 ? 'It is empty.' : [count(r.holding, 'item'), ', the first of them for ', age(now() - r.since), '.'];
    case 'claims': return [count(r.holding, 'item'), ' of a queue ', r.holding === 1 ? 'is' : 'are', ' being worked on.'];
    case 'group': return [count(r.holding, 'member'), '.'];
    case 'service': return [count(r.holding, 'instance'), '.'];
    case 'unclear': return r.problem;
  }
  const waiting = r.waiting === 0 ? 'Nobody waits.' : count(r.waiting, 'waits', 'wait') + '.';
  if (r.holding === 0) return 'Free. ' + waiting;
  if (r.kind === 'semaphore') {
    return [count(r.holding, 'lease'), r.max ? ' of ' + r.max : null, ' held. ', waiting, r.max || r.waiting ? null : ' How many there can be shows when somebody waits.'];
  }
  const verb = r.kind === 'election' ? 'Led by ' : 'Held by ';
  if (r.holding > 1) return [verb, count(r.holding, 'reader'), '. ', waiting];
  return [verb, h('strong', null, owner(r.holders[0])), ' for ', held(r.holders[0], 'at most '), '. ', waiting];
}

function heldParts(r) {
  const history = store.history.filter((hold) => hold.path === r.path);
  const roles = r.kind === 'read-write';
  const acts = store.actions ? [['Actions', 'actions']] : [];
  return [
    h('section', { key: 'holders' }, h('h2', null, r.kind === 'election' ? 'Leader' : 'Holders'), r.holding === 0 ? h('p', { class: 'quiet' }, 'None.')
      : table('holders', 'Holders', [['Name', 'main'], ...(roles ? [['Role', '']] : []), ['Held for', 'figure'], ['Token', 'figure'],
        ['Session', 'session'], ['Queued at', 'figure'], ...acts], r.holders.map((c) => ({
        key: c.token,
        cells: [[owner(c), c.asked && [' ', h('span', { class: 'tag' }, 'asked to give it up')]], ...(roles ? [c.role] : []), held(c), c.token,
          sessionLink(c.session), when(c.since), ...(store.actions ? [actionButtons(r, c)] : [])],
      })))),
    h('section', { key: 'waiters' }, h('h2', null, r.kind === 'election' ? 'Candidates, in order' : 'Waiters, in order'),
      r.waiting === 0 ? h('p', { class: 'quiet' }, 'None.')
        : table('waiters', 'Waiters, in order', [['Place', 'first'], ['Name', 'main'], ...(roles ? [['Role', '']] : []), ['Waits for', 'figure'],
          ['Token', 'figure'], ['Session', 'session']], r.waiters.map((c, i) => ({
          key: c.token,
          cells: [String(i + 1), owner(c), ...(roles ? [c.role] : []), age(now() - c.since), c.token, sessionLink(c.session)],
        }))),
      r.waiters.length < r.waiting && h('p', { class: 'quiet' }, 'The first ' + number(r.waiters.length) + ' of ' + number(r.waiting) + '.')),
    h('section', { key: 'line' }, h('h2', null, 'Time line'), timeline(holdsOf(history, [r], now()), now(), 1)),
    h('section', { key: 'history' }, h('h2', null, 'Hand-overs'), historyTable(history, false)),
  ];
}

function otherParts(r) {
  if (['barrier', 'counter', 'unclear'].includes(r.kind)) return null;
  const queue = r.kind === 'queue';
  const title = { queue: 'Items, the first ones', claims: 'Items', 'double-barrier': 'Members', group: 'Members', service: 'Instances' }[r.kind];
  const columns = [['Name', 'main'], ...(r.kind === 'service' ? [['Address', ''], ['Type', '']] : []), ['For', 'figure'],
    ...(queue ? [['Due', 'figure']] : [['Session', 'session']])];
  return h('section', { key: 'parts' }, h('h2', null, title), r.holding === 0 ? h('p', { class: 'quiet' }, 'None.')
    : table('parts', title, columns, r.holders.map((c) => ({
      key: c.token,
      cells: [h('a', { href: '#/tree?' + new URLSearchParams({ path: c.node }) }, word(c.name)),
        ...(r.kind === 'service' ? [serviceAddress(c.service || { address: '' }), c.service ? c.service.type : ''] : []),
        age(now() - c.since), queue ? (c.due ? when(c.due) : '') : sessionLink(c.session)],
    }))),
  r.holders.length < r.holding && h('p', { class: 'quiet' }, 'The first ' + number(r.holders.length) + ' of ' + number(r.holding) + '.'));
}

// historyTable lists holds that have ended, the newest first.
export function historyTable(history, withPath) {
  if (history.length === 0) return h('p', { class: 'quiet' }, 'None since curator ui runs.');
  const columns = [['Ended', 'first'], ...(withPath ? [['Path', 'main']] : []), ['Held by', withPath ? '' : 'main'], ['Held for', 'figure'],
    ['Waited for', 'figure'], ['Token', 'figure'], ['Then', '']];
  return table('history ' + withPath, 'Hand-overs, the newest first', columns, [...history].reverse().map((hold) => ({
    key: hold.number,
    cells: [when(hold.until), ...(withPath ? [recipeLink(hold.path)] : []), [hold.role ? [h('span', { class: 'tag' }, hold.role), ' '] : null, owner(hold)],
      (hold.exact ? '' : '≤ ') + duration(hold.until - hold.from), hold.exact ? duration(hold.from - hold.since) : 'not seen', hold.token,
      hold.nextToken ? owner({ name: hold.next }) : h('span', { class: 'quiet' }, 'nobody')],
  })));
}

// historyView shows the last holds of all recipes.
export function historyView() {
  const t = now();
  const holds = holdsOf(store.history, [...store.recipes.values()].filter(isHeld), t);
  return {
    title: 'History',
    body: [
      h('h1', { tabindex: -1 }, 'History'),
      h('p', { class: 'lead', key: 'lead' }, 'The last ' + count(store.history.length, 'hold') + ' that ended, and those that go on. A thin line in front of a bar is the time that its owner waited.'),
      h('section', { key: 'line' }, h('h2', null, 'Time line, up to ' + clock(t)), timeline(holds, t, 16)),
      h('section', { key: 'history' }, h('h2', null, 'Hand-overs, the newest first'), historyTable(store.history, true)),
    ],
  };
}
