// Treemap: the documents of a plan as areas proportional to their bytes, coloured by reading progress, with the same data
// in a table. Squarified: a row is extended while its areas become more square.

import { button, el, fill, plain, table } from './dom.js';
import { bytes, count, whole } from './units.js';

const TILES_MAX = 1500;
const ROWS_MAX = 200;
const DEPTH_MAX = 4;
const HEAD_PX = 16;

/** The areas of values (largest first) in a box: `[{x, y, w, h}]` in the same order. */
export function squarify(values, box) {
  const total = values.reduce((sum, value) => sum + value, 0);
  const placed = [];
  if (total <= 0 || box.w <= 0 || box.h <= 0) return values.map(() => ({ x: box.x, y: box.y, w: 0, h: 0 }));
  const scale = (box.w * box.h) / total;
  let { x, y, w, h } = box;
  let idx = 0;
  while (idx < values.length) {
    const side = Math.min(w, h);
    let row = [values[idx] * scale];
    let next = idx + 1;
    while (next < values.length && worst([...row, values[next] * scale], side) <= worst(row, side)) {
      row.push(values[next] * scale);
      next += 1;
      if (row.length > 200) break;
    }
    const area = row.reduce((sum, value) => sum + value, 0);
    const thickness = side > 0 ? area / side : 0;
    let at = 0;
    for (const value of row) {
      const length = thickness > 0 ? value / thickness : 0;
      placed.push(w >= h ? { x, y: y + at, w: thickness, h: length } : { x: x + at, y, w: length, h: thickness });
      at += length;
    }
    if (w >= h) {
      x += thickness;
      w = Math.max(0, w - thickness);
    } else {
      y += thickness;
      h = Math.max(0, h - thickness);
    }
    idx = next;
  }
  return placed;
}

function worst(row, side) {
  const sum = row.reduce((total, value) => total + value, 0);
  const [most, least] = [Math.max(...row), Math.min(...row)];
  if (least <= 0 || sum <= 0) return Infinity;
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Documents by directory: `{name, bytes, children}` or `{name, bytes, document}`. Levels beyond a maximum depth merge. */
export function folders(documents) {
  const root = { name: '', bytes: 0, children: new Map() };
  for (const document of documents) {
    const parts = String(document.path).split('/').filter(Boolean);
    let place = root;
    root.bytes += whole(document.bytes);
    while (parts.length > 1 && place.depth !== DEPTH_MAX) {
      const name = `${parts.shift()}/`;
      if (!place.children.has(name))
        place.children.set(name, { name, bytes: 0, children: new Map(), depth: (place.depth ?? 0) + 1 });
      place = place.children.get(name);
      place.bytes += whole(document.bytes);
    }
    place.children.set(`${parts.join('/')}\u0000${place.children.size}`, {
      name: parts.join('/') || document.path,
      bytes: whole(document.bytes),
      document,
    });
  }
  return root;
}

/** The panel. `show(plan)` takes `{documents: [{path, bytes, type, tasks, state}]}`. */
export function treemap({ onOpen }) {
  const map = el('div', { class: 'treemap', role: 'img', 'aria-label': 'Documents by size' });
  const caption = el('p', { class: 'under', 'aria-live': 'polite' });
  const tablePane = el('div', {});
  const legend = el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    ['done', 'recalled', 'open', 'waiting', 'failed', 'skipped'].map((name) =>
      el('li', { class: `key ${name}` }, name),
    ),
  );
  const element = el('div', {}, legend, caption, el('div', { class: 'plan' }, map, tablePane));
  let documents = [];
  const choose = (document) => {
    const tasks = document.tasks ? count(document.tasks, 'task') : '';
    const facts = [document.path, bytes(whole(document.bytes)), document.type, tasks, document.state];
    caption.textContent = plain(facts.filter(Boolean).join(' · '));
    onOpen?.(document);
  };
  const draw = () => {
    const box = { x: 0, y: 0, w: map.clientWidth, h: map.clientHeight };
    const tiles = [];
    place(folders(documents), box, 0, tiles, choose);
    fill(map, tiles);
  };
  new ResizeObserver(() => draw()).observe(map);
  return {
    element,
    show(plan) {
      documents = Array.isArray(plan?.documents) ? plan.documents : [];
      const used = new Set(documents.map((document) => document.state));
      for (const key of legend.children) key.hidden = !used.has(key.textContent);
      const sum = documents.reduce((total, document) => total + whole(document.bytes), 0);
      caption.textContent =
        documents.length === 0 ? 'This run recorded no plan.' : `${count(documents.length, 'document')}, ${bytes(sum)}`;
      map.setAttribute(
        'aria-label',
        `${caption.textContent}, as areas in proportion to their size. The table shows the same data.`,
      );
      const largest = [...documents].sort((a, b) => whole(b.bytes) - whole(a.bytes));
      fill(
        tablePane,
        table(
          `Documents, the largest first${largest.length > ROWS_MAX ? ` (${ROWS_MAX} of ${largest.length})` : ''}`,
          ['Document', { text: 'Size', class: 'num' }, 'Type', { text: 'Tasks', class: 'num' }, 'State'],
          largest
            .slice(0, ROWS_MAX)
            .map((document) => [
              button(document.path, () => choose(document), { class: 'place' }),
              bytes(whole(document.bytes)),
              document.type ?? '',
              String(document.tasks ?? ''),
              document.state ?? '',
            ]),
        ),
      );
      draw();
    },
  };
}

/** Places a folder in a box. `folders` bounds the depth, and so the recursion. */
function place(folder, box, depth, tiles, choose) {
  const children = Array.from(folder.children.values())
    .filter((child) => child.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
  const boxes = squarify(
    children.map((child) => child.bytes),
    box,
  );
  children.forEach((child, idx) => {
    const area = boxes[idx];
    if (tiles.length >= TILES_MAX || area.w < 2 || area.h < 2) return;
    const isFolder = child.children !== undefined;
    const tile = el('div', {
      class: isFolder ? `tile folder depth${depth % 2}` : `tile ${child.document.state ?? 'none'}`,
      title: isFolder ? `${child.name} ${bytes(child.bytes)}` : `${child.document.path} ${bytes(child.bytes)}`,
    });
    for (const [name, px] of [
      ['left', area.x],
      ['top', area.y],
      ['width', area.w],
      ['height', area.h],
    ])
      tile.style.setProperty(name, `${px.toFixed(1)}px`);
    if (area.w > 34 && area.h > 13)
      tile.append(
        el('span', {}, child.name, !isFolder && area.h > 32 && area.w > 50 ? [el('br'), bytes(child.bytes)] : null),
      );
    tiles.push(tile);
    if (!isFolder) tile.addEventListener('click', () => choose(child.document));
    else if (area.h > HEAD_PX + 6)
      place(
        child,
        { x: area.x + 2, y: area.y + HEAD_PX, w: area.w - 4, h: area.h - HEAD_PX - 2 },
        depth + 1,
        tiles,
        choose,
      );
  });
}
