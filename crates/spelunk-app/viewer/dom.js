// Dom: helpers that create elements. Text from documents and models only becomes text nodes, so it is never parsed as
// markup. Attributes are set by name, and addresses never come from such text.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Text without control characters; those that change the direction of a line are replaced. */
export function plain(text) {
  return String(text ?? '')
    .replace(HIDDEN, '')
    .replace(BIDI_CONTROLS, '\ufffd');
}

/**
 * An element. Properties: `class`, `text`, `on: {event: handler}`, `data: {name: value}`, `style: {name: value}`, and any
 * attribute. Attributes that are `false`, `null` or `undefined` are omitted.
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  add(element, children);
  return element;
}

/** The same for SVG. */
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

/** Replaces all children. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Sets the text only if it differs, because a screen reader may announce every change. */
export function setText(element, text) {
  const shown = plain(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** A button, which does not submit a form. */
export function button(text, onClick, properties = {}) {
  return el('button', { type: 'button', ...properties, on: { click: onClick } }, text);
}

/** A table with a caption. `columns` are strings or `{text, class}`; cells are text or nodes. */
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

/** Announces a text to screen readers. */
export function announce(text) {
  const place = document.getElementById('announcements');
  if (place) setText(place, text);
}

/** A function that runs `work` at most once per animation frame, however often it is called. */
export function perFrame(work) {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      work();
    });
  };
}

/** A button that copies a text. Outside a secure context, browsers offer only `execCommand`. */
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
