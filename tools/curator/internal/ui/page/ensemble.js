// The servers, and the sessions.

import { h } from './dom.js';
import { age, count, duration, nodeLink, number, owner, recipeLink, sessionLink, when } from './text.js';
import { now, resource, store } from './store.js';
import { table } from './table.js';

// ensembleView shows the servers and what is wrong with them.
export function ensembleView() {
  return {
    title: 'Ensemble',
    body: [h('h1', { tabindex: -1 }, 'Ensemble'), store.ensemble ? servers(store.ensemble)
      : h('p', { class: 'quiet' }, 'The servers have not been asked yet.'), ours()],
  };
}

function servers(e) {
  const told = (n) => (n === undefined || n < 0 ? h('span', { class: 'quiet' }, '–') : number(n));
  const columns = [['Server', 'main'], ['Mode', ''], ['Zxid', 'figure'], ['Latency avg / max', 'figure'], ['Connections', 'figure'],
    ['Waiting requests', 'figure'], ['Nodes', 'figure'], ['Sessions', 'figure'], ['Watches', 'figure'], ['Version', '']];
  const refused = e.figures.find((f, i) => f.error && !e.servers[i].error);
  return [
    h('section', { key: 'problems', class: e.problems.length ? 'problems' : 'well' }, h('h2', null, e.problems.length ? 'Not healthy' : 'Healthy'),
      e.problems.length ? h('ul', null, e.problems.map((text) => h('li', { key: text }, text)))
        : h('p', null, e.servers.length === 1 ? 'The server serves. It is the only one that was named.' : 'All ' + e.servers.length + ' servers serve, and one of them leads.')),
    h('section', { key: 'servers' }, h('h2', null, 'Servers'), table('servers', 'Servers', columns, e.servers.map((s, i) => ({
      key: s.server,
      cells: s.error ? [s.server, h('strong', null, 'down'), '', '', '', '', '', '', '', '']
        : [s.server, s.mode, s.zxid, s.latencyAvgMs + ' / ' + s.latencyMaxMs + ' ms', number(s.connections), number(s.outstanding), number(s.nodes),
          told(e.figures[i].sessions), told(e.figures[i].watches), s.version],
    }))),
    refused && h('p', { class: 'quiet' }, 'Sessions and watches are not told: ' + refused.error + '.'),
    h('p', { class: 'quiet' }, 'Asked at ', when(e.asked), '.')),
  ];
}

function ours() {
  const s = store.status;
  const rows = [
    ['Server', s.server || 'none'], ['Session', sessionLink(s.session)], ['Timeout', duration(s.timeout)], ['Nodes below ' + store.root, number(s.nodes)],
    ['Sessions that own some of them', number(s.sessions)],
  ];
  return h('section', { key: 'ours' }, h('h2', null, 'This page'),
    h('dl', { class: 'facts' }, rows.map(([name, value]) => h('div', { key: name }, h('dt', null, name), h('dd', { class: 'figure' }, value)))),
    s.skew !== 0 && h('p', { class: 'notice' }, 'The clock of the servers is ' + duration(Math.abs(s.skew)) + (s.skew > 0 ? ' behind' : ' ahead of') +
      ' that of curator ui. Times of the servers are corrected by that.'));
}

// sessionView shows what ends with a session.
export function sessionView(params) {
  const id = params.get('id') || '';
  const r = resource('session', '/api/session', { id }, 1000);
  const s = r.value && r.value.id === id ? r.value : null;
  return {
    title: 'Session ' + id,
    body: [
      h('h1', { tabindex: -1 }, 'Session ', h('span', { class: 'figure' }, id)),
      r.error && h('p', { class: 'error', role: 'alert', key: 'error' }, r.error),
      s && h('p', { class: 'lead', key: 'lead' }, lead(s)),
      s && s.total > 0 && h('section', { key: 'nodes' }, h('h2', null, 'What ends with it'), table('owned', 'What ends with it',
        [['Node', 'main'], ['Part of', ''], ['What it is', ''], ['Then', ''], ['Token', 'figure'], ['For', 'figure']], s.nodes.map((n) => ({
          key: n.node, cells: [nodeLink(n.node), n.recipe ? recipeLink(n.recipe) : '', what(n), then(n), n.token, age(now() - n.since)],
        }))),
      s.nodes.length < s.total && h('p', { class: 'quiet' }, 'The first ' + number(s.nodes.length) + ' of ' + number(s.total) + '.')),
    ],
  };
}

function lead(s) {
  if (s.total === 0) return ['It owns no node below ' + store.root + '. ', s.id === store.status.session ? 'It is the session of this page.' : 'It may be over.'];
  const held = s.nodes.filter((n) => n.holds).length;
  return ['It owns ', count(s.total, 'node'), '. ', held ? 'When it ends, ' + count(held, 'lock or leadership', 'locks or leaderships') + ' ' + (held === 1 ? 'goes' : 'go') + ' to others.' : null];
}

function what(n) {
  if (n.holds) return n.kind === 'election' ? 'leads' : 'holds';
  if (n.place) return 'waits, place ' + n.place;
  return { group: 'member', 'double-barrier': 'member', service: 'instance', claims: 'item being worked on' }[n.kind] || 'node';
}

function then(n) {
  if (!n.holds) return '';
  return n.next ? ['goes to ', owner({ name: n.next })] : 'is free';
}
