// How things are written.

import { h } from './dom.js';

// Characters that show nothing, or change how others are shown.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\u2800\u3164]/gu;

// visible writes each character that cannot be seen as its number.
export function visible(text) {
  return String(text).replace(hidden, (c) => '\\u{' + c.codePointAt(0).toString(16) + '}');
}

// block is visible for a text of several lines.
export function block(text) {
  return text.split('\n').map((line) => line.split('\t').map(visible).join('\t')).join('\n');
}

// word is a text of the ensemble in a sentence: its direction is its own.
export function word(text, className) {
  return h('bdi', { class: className }, visible(text));
}

const unknown = 'no name';

// owner names a contender.
export function owner(c) {
  if (c.asked && !c.name) return h('span', { class: 'quiet' }, 'asked to give it up');
  if (!c.name) return h('span', { class: 'quiet' }, unknown);
  return word(c.name, 'owner');
}

export function ownerText(c) {
  return c.name ? visible(c.name) : unknown;
}

// duration writes milliseconds.
export function duration(ms) {
  if (ms < 0) ms = 0;
  if (ms < 1000) return ms < 100 ? Math.round(ms) + ' ms' : (ms / 1000).toFixed(1) + ' s';
  if (ms < 10000) return (Math.floor(ms / 100) / 10).toFixed(1) + ' s';
  const s = Math.floor(ms / 1000);
  if (s < 60) return s + ' s';
  const min = Math.floor(s / 60);
  if (min < 60) return min + ' min ' + String(s % 60).padStart(2, '0') + ' s';
  const hours = Math.floor(min / 60);
  if (hours < 24) return hours + ' h ' + String(min % 60).padStart(2, '0') + ' min';
  return Math.floor(hours / 24) + ' d ' + (hours % 24) + ' h';
}

// age is duration in whole seconds, for what goes on.
export function age(ms) {
  return ms < 10000 ? Math.max(0, Math.floor(ms / 1000)) + ' s' : duration(ms);
}

const pad = (n) => String(n).padStart(2, '0');

// clock writes a time of today as its hour, and another one with its date.
export function clock(ms) {
  const t = new Date(ms);
  const time = pad(t.getHours()) + ':' + pad(t.getMinutes()) + ':' + pad(t.getSeconds());
  if (t.toDateString() === new Date().toDateString()) return time;
  return t.getFullYear() + '-' + pad(t.getMonth() + 1) + '-' + pad(t.getDate()) + ' ' + time;
}

// when is clock with the whole time as its title.
export function when(ms) {
  if (!ms) return '';
  const iso = new Date(ms).toISOString();
  return h('time', { datetime: iso, title: iso }, clock(ms));
}

// count writes a number with its noun.
export function count(n, one, many) {
  return number(n) + ' ' + (n === 1 ? one : many || one + 's');
}

// number groups digits by a thin space, as figures of more than four digits need it.
export function number(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');
}

export function bytes(n) {
  return count(n, 'byte');
}

// address makes the address of a view.
export function address(view, params) {
  const query = new URLSearchParams(Object.entries(params || {}).filter(([, value]) => value !== ''));
  const text = query.toString().replaceAll('%2F', '/');
  return '#/' + view + (text ? '?' + text : '');
}

// recipeLink shows the path of a recipe, its last part first in weight.
export function recipeLink(path) {
  return pathLink('recipe', path);
}

export function nodeLink(path) {
  return pathLink('tree', path);
}

function pathLink(view, path) {
  const i = path.lastIndexOf('/');
  return h('a', { href: address(view, { path }), class: 'path' },
    h('bdi', null, h('span', { class: 'parent' }, visible(path.slice(0, i + 1))), h('span', { class: 'last' }, visible(path.slice(i + 1)))));
}

export function sessionLink(id) {
  return id ? h('a', { href: address('session', { id }), class: 'figure' }, id) : h('span', { class: 'quiet' }, 'none');
}
