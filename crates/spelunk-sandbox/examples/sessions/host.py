import hashlib, json, re

LABELS = ['numeric value', 'human being', 'entity', 'description and abstract concept', 'location', 'abbreviation']
text = context if isinstance(context, str) else '\n'.join(x if isinstance(x, str) else json.dumps(x) for x in context)
rows = [{k: '%s_%d' % (k, i) for k in row_keys} for i in range(5)]


def llm_reply(prompt):
    p = prompt if isinstance(prompt, str) else json.dumps(prompt)
    low = p.lower()
    h = int(hashlib.md5(p.encode('utf-8')).hexdigest(), 16)
    nums = re.findall(r'(?m)^\s*(\d{1,4})[.):]\s', p)
    if 'json' in low:
        if re.search(r'json (list|array)|array of|list of (objects|dict)', low):
            return '[{"id": 1, "name": "alpha", "label": "entity", "count": 3}, {"id": 2, "name": "beta", "label": "location", "count": 5}]'
        return '{"answer": "42", "name": "alpha", "label": "entity", "count": 3, "items": ["a", "b"]}'
    if len(nums) >= 3:
        return '\n'.join('%s: %s' % (n, LABELS[(h + i) % len(LABELS)]) for i, n in enumerate(nums[:400]))
    if any(l in low for l in LABELS):
        return LABELS[h % len(LABELS)]
    if re.search(r'yes\s*(/|or)\s*no', low):
        return 'Yes' if h % 2 else 'No'
    if re.search(r'how many|count of|only (the|a) (number|integer)|as an? (integer|number)', low):
        return str(h % 40)
    return 'The passage mentions alpha and beta. The relevant value is %d. No further information is given.' % (h % 1000)


def labels(instruction='', schema=None, items=None, *a, **k):
    items = items if items is not None else [l for l in text.split('\n') if 'Instance:' in l]
    found = [{'index': i, 'item': it if isinstance(it, str) else json.dumps(it), 'source': 's%04d' % (i // 40),
              'value': LABELS[i % len(LABELS)]} for i, it in enumerate(items)]
    return {'rows': found, 'failed': [], 'total_items': len(items), 'valid_items': len(items)}


def search(pattern='', regex=False, *a, **k):
    hits = []
    for i, l in enumerate(text.split('\n')):
        m = re.search(pattern if regex else re.escape(str(pattern)), l, re.I)
        if m:
            hits.append({'ref': 's%04d' % (i // 40), 'line': i, 'start': m.start(), 'text': l})
    return {'hits': hits[:200], 'matches': len(hits), 'pattern': pattern}


def llm(prompt='', *a, **k):
    return llm_reply(prompt)


def llm_batch(prompts=(), *a, **k):
    return [llm_reply(p) for p in prompts]


def regex(t, p, flags=0, *a, **k):
    return re.findall(p, t, flags)


def cut(a=0, b=None, *r, **k):
    return text[a:b] if isinstance(a, int) else text[:4000]


def answer(name, kind, args, kwargs):
    if kind == 'llm':
        return llm(*args, **kwargs)
    if kind == 'llm_batch':
        return llm_batch(*args, **kwargs)
    if kind == 'final' or kind == 'none':
        return None
    if kind == 'rows':
        return [dict(x) for x in rows]
    if kind == 'row':
        return dict(rows[0])
    if kind == 'int':
        return 7
    if kind == 'regex':
        return regex(*args, **kwargs)
    if kind == 'labels':
        return labels(*args, **kwargs)
    if kind == 'search':
        return search(*args, **kwargs)
    if kind == 'slice':
        return cut(*args, **kwargs)
    return 'stub result of ' + name
