// Completion: proposes paths below a textarea that holds one a line. Down goes to the proposals, Enter takes one, Escape goes
// back.

import { button, el, fill } from './dom.js';

const TYPING_MS = 150;
const SHOWN_MAX = 8;

/** Completes the line that is typed. `paths(beginning)` promises what begins like it. Gives the list to put below. */
export function completed(input, paths) {
  const list = el('div', { class: 'proposals', role: 'group', 'aria-label': 'Proposals', hidden: true });
  let [typing, asked] = [0, 0];
  const line = () => {
    const from = input.value.lastIndexOf('\n', input.selectionStart - 1) + 1;
    const end = input.value.indexOf('\n', input.selectionStart);
    return [from, end < 0 ? input.value.length : end];
  };
  const take = (path) => {
    const [from, to] = line();
    input.setRangeText(path, from, to, 'end');
    list.hidden = true;
    input.focus();
    propose();
  };
  const propose = () => {
    clearTimeout(typing);
    typing = setTimeout(async () => {
      asked += 1;
      const own = asked;
      const typed = input.value.slice(...line()).trim();
      const found = typed === '' ? [] : await paths(typed).catch(() => []);
      if (own !== asked) return;
      const kept = found.filter((path) => path !== typed).slice(0, SHOWN_MAX);
      list.hidden = kept.length === 0;
      fill(
        list,
        kept.map((path) => button(path, () => take(path), { class: 'quiet' })),
      );
    }, TYPING_MS);
  };
  input.addEventListener('input', propose);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' && !list.hidden) {
      event.preventDefault();
      list.firstElementChild.focus();
    } else if (event.key === 'Escape') list.hidden = true;
  });
  list.addEventListener('keydown', (event) => {
    const all = Array.from(list.children);
    const idx = all.indexOf(document.activeElement);
    if (event.key === 'ArrowDown') all[Math.min(idx + 1, all.length - 1)].focus();
    else if (event.key === 'ArrowUp') (idx > 0 ? all[idx - 1] : input).focus();
    else if (event.key === 'Escape') {
      list.hidden = true;
      input.focus();
    } else return;
    event.preventDefault();
  });
  return list;
}
