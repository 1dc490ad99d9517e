// Main: routes addresses to pages, and handles the theme and global keys.

import { announce, button, el, fill } from './dom.js';
import { keepToken, openOrigin, takeToken } from './api.js';
import { comparison } from './compare.js';
import { fleetPage } from './fleet.js';
import { newRun } from './form.js';
import { runList } from './list.js';
import { runPage } from './run.js';

const THEMES = ['auto', 'light', 'dark'];
const THEME_KEY = 'spelunk-theme';
const KEYS = [
  ['?', 'This help'],
  ['g then r', 'Runs'],
  ['g then n', 'New run'],
  ['/', 'Find'],
  ['1 to 7', 'Views of a run'],
  ['j, k or arrows', 'Move in lists'],
  ['Enter', 'Open'],
  ['h, l or left, right', 'Collapse and expand a branch of the tree'],
  ['+, −, 0', 'Zoom the timeline'],
  ['t', 'Toggle light and dark'],
  ['Escape', 'Close'],
];

takeToken();
const origin = openOrigin();
const main = document.getElementById('main');
const page = { now: null };

function go(address) {
  if (location.hash === address) route();
  else location.hash = address;
}

function route() {
  page.now?.dispose();
  page.now = make(location.hash.replace(/^#\/?/u, '').split('?')[0].split('/').map(decode));
  fill(main, page.now.element);
  document.title = `${page.now.title} · Spelunk`;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === location.hash || (location.hash === '' && link.getAttribute('href') === '#/'))
      link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  window.scrollTo(0, 0);
  if (page.isFirst === false) (page.now.focus ?? (() => main.focus()))();
  page.isFirst = false;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function make([where, ...rest]) {
  const [id, tab, ...item] = where === 'run' ? rest : [];
  if (origin.isExported) return runPage({ origin, id: origin.run, tab, item, go });
  if (id) return runPage({ origin, id, tab, item, go });
  if (where === 'new') return newRun({ origin, go });
  if (where === 'fleet') return fleetPage({ origin });
  if (where === 'compare' && rest.length === 2) return comparison({ origin, runs: rest, go });
  return runList({ origin, go });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const shown = document.getElementById('theme');
  shown.textContent = { auto: '◐', light: '☀', dark: '☾' }[theme];
  shown.setAttribute('aria-label', `Theme: ${theme}`);
  shown.title = `Theme: ${theme}`;
  page.now?.redraw?.();
}

/** Runs `work` on the storage, which a file opened from disk may lack; a choice then lasts only as long as the page. */
function withStorage(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  withStorage(() => localStorage.setItem(THEME_KEY, theme));
  setTheme(theme);
  announce(`Theme: ${theme}`);
}

const help = el(
  'dialog',
  { class: 'help', 'aria-labelledby': 'help-title' },
  el(
    'header',
    {},
    el('h2', { id: 'help-title' }, 'Keys'),
    button('Close', () => help.close(), { class: 'quiet' }),
  ),
  el(
    'dl',
    {},
    KEYS.map(([key, what]) => el('div', {}, el('dt', {}, el('kbd', {}, key)), el('dd', {}, what))),
  ),
);

/** Lets the user enter the token, if the address had none and the server requires one. */
function tokenButton() {
  if (origin.isExported) return null;
  const input = el('input', { type: 'password', id: 'token', autocomplete: 'off' });
  const box = el(
    'dialog',
    { class: 'help', 'aria-labelledby': 'token-title' },
    el(
      'form',
      {
        method: 'dialog',
        on: {
          submit: () => {
            keepToken(input.value.trim());
            input.value = '';
            route();
          },
        },
      },
      el('h2', { id: 'token-title' }, 'Token'),
      el('label', { class: 'field', for: 'token' }, el('span', {}, 'Bearer token of this server'), input),
      el(
        'div',
        { class: 'tools' },
        el('button', { class: 'primary' }, 'Use token'),
        button('Cancel', () => box.close()),
      ),
    ),
  );
  document.body.append(box);
  const opener = button('Token', () => box.showModal(), { class: 'quiet', id: 'open-token', hidden: true });
  const show = (about) => (opener.hidden = !about.auth);
  origin.server().then(show, () => show({ auth: true }));
  return opener;
}

let isAfterG = false;
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, dialog[open]');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const wasAfterG = isAfterG;
  isAfterG = event.key === 'g';
  const tabs = page.now?.tabs ?? [];
  if (wasAfterG && event.key === 'r' && !origin.isExported) go('#/');
  else if (wasAfterG && event.key === 'n' && !origin.isExported) go('#/new');
  else if (event.key === '?') help.showModal();
  else if (event.key === 't') nextTheme();
  else if (event.key === '/') main.querySelector('input[type=search]')?.focus();
  else if (/^[1-9]$/u.test(event.key) && tabs[Number(event.key) - 1]) page.now.showTab(tabs[Number(event.key) - 1]);
  else if (event.key === 'j' || event.key === 'k') move(event.key === 'j' ? 1 : -1);
  else return;
  event.preventDefault();
});

/** Moves the focus between rows, on pages that are plain lists of links. */
function move(by) {
  const links = Array.from(main.querySelectorAll('.row-link'));
  const list = main.querySelector('.windowed');
  if (links.length === 0) return list?.focus();
  const idx = links.indexOf(document.activeElement);
  return links[Math.min(links.length - 1, Math.max(0, idx + by))].focus();
}

document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
document.getElementById('help').addEventListener('click', () => help.showModal());
document.getElementById('theme').addEventListener('click', nextTheme);
document.body.append(help);
document.querySelector('.bar-tools').prepend(tokenButton() ?? '');
if (origin.isExported) {
  document.querySelector('nav').replaceChildren();
  const { blobs, bytes: size } = origin.leftOut;
  if (blobs > 0)
    document
      .querySelector('footer')
      .append(
        el(
          'p',
          {},
          `${blobs} long texts (${Math.ceil(size / 1000).toLocaleString('en')} kB) were omitted to keep this file small.`,
        ),
      );
}
setTheme(THEMES.find((theme) => theme === withStorage(() => localStorage.getItem(THEME_KEY))) ?? 'auto');
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.now?.redraw?.());
window.addEventListener('hashchange', route);
route();
