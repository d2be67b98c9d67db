// The time line: who has held what, and how long each waited for it.

import { h } from './dom.js';
import { clock, duration, ownerText, visible } from './text.js';

const label = 16; // height of the path of a row
const bar = 18;
const gap = 6; // between rows
const labels = 18; // height of the hours
let width = 800; // of the page's contents
let measured = false;

// measure follows the width of the contents. changed is called when it is another one.
export function measure(element, changed) {
  if (measured) return;
  measured = true;
  new ResizeObserver((entries) => {
    const now = Math.floor(entries[0].contentRect.width);
    if (now !== width && now > 0) {
      width = now;
      changed();
    }
  }).observe(element);
}

// holdsOf returns the holds of the history and those that go on, of the recipes that are wanted.
export function holdsOf(history, recipes, now) {
  const going = [];
  for (const r of recipes) {
    for (const c of r.holders) {
      if (c.held) {
        going.push({
          path: r.path, name: c.name, token: c.token, role: c.role, since: c.since, from: c.held, until: now, going: true,
        });
      }
    }
  }
  return history.concat(going);
}

const spans = [30, 60, 120, 300, 900, 3600, 14400, 86400];
const ticks = [5, 10, 20, 60, 180, 600, 2400, 14400];

// timeline draws holds up to now. Each path has a row, each hold a bar, and a line in front of it
// for the time that it waited. What it shows is in the table below it, too.
export function timeline(holds, now, mostRows) {
  if (holds.length === 0) return h('p', { class: 'quiet' }, 'Nobody has held anything since this page looks.');
  const last = new Map();
  for (const hold of holds) last.set(hold.path, Math.max(last.get(hold.path) || 0, hold.until));
  const paths = [...last.keys()].sort((a, b) => last.get(b) - last.get(a)).slice(0, mostRows).sort();
  const ended = holds.filter((hold) => !hold.going && paths.includes(hold.path));
  const first = ended.length ? Math.min(...ended.map((hold) => hold.from)) : now - 30000;
  const level = Math.max(0, spans.findIndex((s) => now - first <= s * 1000));
  const span = (now - first > spans[spans.length - 1] * 1000 ? spans[spans.length - 1] : spans[level]) * 1000;
  const begin = now - span;
  const x = (t) => Math.max(0, Math.min(width, (t - begin) / span * width));
  const rows = [];
  let height = labels;
  for (const path of paths) {
    const own = stack(holds.filter((hold) => hold.path === path && hold.until >= begin));
    rows.push({ path, own, y: height });
    height += label + own.levels * bar + gap;
  }
  const tick = ticks[spans.indexOf(span / 1000)] * 1000;
  const marks = [];
  const every = width < 500 ? 2 * tick : tick;
  for (let t = Math.ceil(begin / every) * every; t <= now; t += every) {
    if (x(t) > width - 60) continue;
    marks.push(h('g', { key: 'mark ' + t },
      h('line', { class: 'mark', x1: x(t), x2: x(t), y1: 0, y2: height }),
      h('text', { class: 'hour', x: x(t) + 4, y: 12 }, clock(t))));
  }
  return h('svg', {
    class: 'timeline', role: 'img', width, height, viewBox: '0 0 ' + width + ' ' + height,
    'aria-label': 'Time line of the last ' + duration(span) + ': ' + holds.length + ' holds. The same is in the tables.',
  }, marks, rows.map((r) => row(r.path, r.y, r.own, x)));
}

// stack gives each hold a level, so that those of the same time do not cover each other.
function stack(holds) {
  const ends = [];
  const sorted = [...holds].sort((a, b) => a.from - b.from || (a.token < b.token ? -1 : 1));
  const level = new Map();
  for (const hold of sorted) {
    let i = ends.findIndex((end) => end <= hold.from);
    if (i < 0) i = ends.length;
    ends[i] = hold.until;
    level.set(hold, i);
  }
  return { holds: sorted, level, levels: Math.max(1, ends.length) };
}

function cut(text, length) {
  return text.length > length ? text.slice(0, length - 1) + '…' : text;
}

function row(path, y, own, x) {
  return h('g', { key: path },
    h('text', { class: 'lane', x: 0, y: y + 11 }, visible(path)),
    own.holds.map((hold, i) => {
      const left = x(hold.from);
      const size = Math.max(1, x(hold.until) - left);
      const fits = Math.floor((size - 8) / 6.6);
      const name = ownerText(hold);
      const top = y + label + own.level.get(hold) * bar;
      return h('g', { key: hold.token },
        hold.from - hold.since > 0 && h('line', { class: 'waited', x1: x(hold.since), x2: left, y1: top + bar - 1, y2: top + bar - 1 }),
        h('rect', { class: 'hold shade' + i % 2 + (hold.going ? ' going' : ''), x: left, y: top, width: size, height: bar - 3 },
          h('title', null, name + ', token ' + hold.token + ': held for ' + duration(hold.until - hold.from) +
            ', waited for ' + duration(hold.from - hold.since))),
        fits > 3 && h('text', { class: 'who', x: left + 4, y: top + 11 }, name.length <= fits ? name : cut(name.replace(/ on .*/, ''), fits)));
    }));
}
