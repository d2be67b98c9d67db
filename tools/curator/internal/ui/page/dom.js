// Descriptions of elements, and what makes a document of them: it changes only what differs, so
// that the focus and the selection stay. Texts are always text, never HTML.

const svgTags = new Set(['svg', 'g', 'rect', 'line', 'text', 'title']);
const known = new WeakMap(); // the description that an element was made of

// h describes an element. Of props, those that begin with "on" are listeners, key tells siblings
// apart, the others are attributes; null, undefined and false are none.
export function h(tag, props, ...children) {
  return {
    tag, props: props || {}, key: props ? props.key : undefined,
    children: children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== ''),
  };
}

// render makes the children of an element those that are described.
export function render(element, ...children) {
  patchChildren(element, h('', null, ...children).children);
}

function create(v) {
  if (typeof v !== 'object') return document.createTextNode(String(v));
  const element = svgTags.has(v.tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', v.tag) : document.createElement(v.tag);
  patch(element, v);
  return element;
}

function matches(node, v) {
  if (typeof v !== 'object') return node.nodeType === Node.TEXT_NODE;
  const was = known.get(node);
  return was !== undefined && was.tag === v.tag && was.key === v.key;
}

function patch(node, v) {
  if (typeof v !== 'object') {
    const text = String(v);
    if (node.data !== text) node.data = text;
    return;
  }
  const was = known.get(node);
  known.set(node, v);
  const old = was ? was.props : {};
  for (const name of Object.keys(old)) {
    if (!(name in v.props)) setProp(node, name, null, old[name]);
  }
  for (const [name, value] of Object.entries(v.props)) {
    if (!was || old[name] !== value) setProp(node, name, value, old[name]);
  }
  if (!v.props.opaque) patchChildren(node, v.children);
  if (v.props.onmake && !was) v.props.onmake(node);
}

function setProp(node, name, value) {
  if (name === 'key' || name === 'onmake' || name === 'opaque') return;
  if (name.startsWith('on')) {
    node[name] = value || null;
  } else if (name === 'value') {
    if (node.value !== value && document.activeElement !== node) node.value = value ?? '';
  } else if (name === 'checked') {
    node.checked = Boolean(value);
  } else if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? '' : String(value));
  }
}

function patchChildren(element, children) {
  const keyed = new Map();
  for (const node of element.childNodes) {
    const was = known.get(node);
    if (was && was.key !== undefined) keyed.set(was.key, node);
  }
  let at = element.firstChild;
  for (const v of children) {
    let node = null;
    if (typeof v === 'object' && v.key !== undefined) {
      const found = keyed.get(v.key);
      if (found && matches(found, v)) node = found;
    } else if (at && matches(at, v)) {
      node = at;
    }
    if (node) {
      patch(node, v);
    } else {
      node = create(v);
    }
    if (node === at) {
      at = at.nextSibling;
    } else {
      element.insertBefore(node, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}
