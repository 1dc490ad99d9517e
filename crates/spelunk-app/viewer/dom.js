// Dom: how elements are made. Text from documents and models only ever becomes a text node, so no word of it is markup;
// attributes are set by name, and addresses are ours alone.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;
const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Text as it is, without control characters and without those that turn the direction of a line. */
export function plain(text) {
  return String(text ?? '')
    .replace(HIDDEN, '')
    .replace(TURNING, '\ufffd');
}

/**
 * An element. Properties: `class`, `text`, `on: {event: handler}`, `data: {name: value}`, `style: {name: value}`, and any
 * attribute. Attributes that are `false`, `null` or `undefined` are left out.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  add(element, children);
  return element;
}

/** The same for pictures. */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, properties);
  add(element, children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') element.textContent = plain(value);
    else if (name === 'on')
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name === 'style') for (const [key, rule] of Object.entries(value)) element.style.setProperty(key, rule);
    else element.setAttribute(name, value === true ? '' : plain(value));
  }
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
}

/** Puts other children in the place of all there are. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Sets the text only where it is another one: a screen reader speaks on every change. */
export function say(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** A button that looks like one. */
export function button(text, onClick, properties = {}) {
  return el('button', { type: 'button', ...properties, on: { click: onClick } }, text);
}

/** A table with a caption. `columns` are words or `{text, class}`; cells are text or nodes. */
export function table(caption, columns, rows, properties = {}) {
  const heads = columns.map((column) => el('th', { scope: 'col', class: column.class }, column.text ?? column));
  const lines = rows.map((cells) =>
    el(
      'tr',
      {},
      cells.map((cell, idx) => {
        const shown = cell instanceof Node ? cell : plain(cell);
        return idx === 0
          ? el('th', { scope: 'row', class: columns[0].class }, shown)
          : el('td', { class: columns[idx]?.class }, shown);
      }),
    ),
  );
  return el(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    el('table', properties, el('caption', {}, caption), el('thead', {}, el('tr', {}, heads)), el('tbody', {}, lines)),
  );
}

/** What is said once to people who listen. */
export function announce(text) {
  const place = document.getElementById('announcements');
  if (place) say(place, text);
}

/** Runs `work` at most once per picture, however often it is asked for. */
export function perFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** A button that puts a text on the clipboard. Outside of a secure context browsers offer only the older way. */
export function copyButton(label, textOf) {
  const copy = async () => {
    const text = await textOf();
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else {
      const box = el('textarea', { class: 'unseen' });
      box.value = text;
      document.body.append(box);
      box.select();
      document.execCommand('copy');
      box.remove();
    }
    announce('Copied');
  };
  return button(label, () => copy().catch((error) => announce(error.message)), { class: 'quiet copy' });
}
