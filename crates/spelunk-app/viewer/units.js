// Units: formats bytes, tokens, dollars and times like the command line does.

/** `3.1 MB`, in powers of ten. */
export function bytes(n) {
  return scaled(n, ['B', 'kB', 'MB', 'GB', 'TB'], ' ');
}

/** `12.3k`. */
export function tokens(n) {
  return scaled(n, ['', 'k', 'M', 'G'], '');
}

function scaled(n, units, space) {
  let value = whole(n);
  let scale = 0;
  while (value >= 1000 && scale + 1 < units.length) {
    value /= 1000;
    scale += 1;
  }
  const tenths = Math.floor(value * 10 + 1e-9) / 10;
  const shown = scale === 0 || tenths >= 100 ? String(Math.floor(tenths)) : tenths.toFixed(1);
  return `${shown}${space}${units[scale]}`;
}

/** `$0.08`; with as many digits as are significant. */
export function dollars(microusd) {
  const n = whole(microusd);
  if (n === 0) return '$0.00';
  if (n < 100) return '<$0.0001';
  if (n < 100000) return `$0.${String(Math.ceil(n / 100)).padStart(4, '0')}`;
  const cents = Math.ceil(n / 10000);
  return `$${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** `340 ms`, `4.2 s`, `3 min 20 s`. */
export function time(ms) {
  const n = Math.max(0, Math.floor(Number(ms) || 0));
  if (n < 1000) return `${n} ms`;
  if (n < 60000) return `${Math.floor(n / 1000)}.${Math.floor((n % 1000) / 100)} s`;
  const seconds = Math.floor((n % 60000) / 1000);
  if (n < 3600000) return `${Math.floor(n / 60000)} min${seconds > 0 ? ` ${seconds} s` : ''}`;
  return `${Math.floor(n / 3600000)} h ${Math.floor((n % 3600000) / 60000)} min`;
}

/** `1 file`, `2 files`. */
export function count(n, what) {
  return `${whole(n).toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
}

/** `2 hidden, 1 secret`. */
export function listed(counts) {
  return Object.entries(counts)
    .map(([what, n]) => `${n} ${what}`)
    .join(', ');
}

/** The sum of counts. */
export function total(counts) {
  return Object.values(counts ?? {}).reduce((sum, n) => sum + whole(n), 0);
}

/** `2026-03-03 09:42:11 UTC`; empty if there is no valid time. */
export function moment(ms) {
  if (!Number.isFinite(ms) || ms <= 0 || ms > 8.64e15) return '';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The start time of a run, from its id: `rlm-20260822T101403Z-3f9a2b1c`. */
export function startOf(run) {
  const parts = /^rlm-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z-/.exec(run ?? '');
  if (!parts) return 0;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The random last part of a run's id, by which people refer to it. */
export function shortName(run) {
  return String(run).split('-').pop();
}

/** The beginning of a text on one line. */
export function head(text, charsMax) {
  const line = String(text).split(/\s+/u).filter(Boolean).join(' ');
  const chars = line.length > charsMax ? Array.from(line.slice(0, charsMax * 2)) : null;
  return chars && chars.length > charsMax
    ? `${chars
        .slice(0, charsMax - 1)
        .join('')
        .trimEnd()}…`
    : line;
}

/** A number from an untrusted source, or 0 if it is not valid. */
export function whole(n) {
  const number = Number(n);
  return Number.isFinite(number) && number > 0 ? Math.floor(number) : 0;
}

/** The address of a frame, call, cell or tool in a view of its run. */
export function itemAddress(run, tab, kind, name) {
  return `#/run/${[run, tab, kind, name].map(encodeURIComponent).join('/')}`;
}
