// States: pages with nothing to show, which say why and what can be done about it.

import { button, el } from './dom.js';

/** A page with a single message. */
export function statePage(title, text, ...actions) {
  return el(
    'div',
    { class: 'card state-page' },
    el('h2', {}, title),
    el('p', {}, text),
    actions.length > 0 ? el('div', { class: 'tools' }, actions) : null,
  );
}

/** Why something could not be read: no token, no such run, no server, or the server's error. */
export function failurePage(error, again) {
  const retry = button('Try again', again);
  const page = (title, text, ...actions) => {
    const made = statePage(title, text, ...actions);
    made.setAttribute('role', 'alert');
    return made;
  };
  if (error.status === 401)
    return page(
      'This server requires a token',
      'Ask the operator of the server. The token is kept only for this tab.',
      button('Enter the token', () => document.getElementById('open-token')?.click(), { class: 'primary' }),
    );
  if (error.status === 404) {
    return page('There is no such run', `${error.message}. It may have been deleted.`, el('a', { href: '#/' }, 'All runs'));
  }
  if (error.status === undefined)
    return page('The server does not respond', 'It may have been stopped. Its runs are kept and continue when it is restarted.', retry);
  return page('The server rejected the request', error.hint ? `${error.message}. ${error.hint}.` : error.message, retry);
}
