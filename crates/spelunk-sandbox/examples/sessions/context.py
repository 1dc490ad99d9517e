class CtxObject:
    def __init__(self, t): self._t = t
    def info(self): return {'key': 'context', 'chars': len(self._t), 'approx_tokens': len(self._t) // 4, 'lines': self._t.count('\n') + 1}
    def read(self, a=0, b=None): return self._t[a:b]
    def lines(self, a=0, b=None): return self._t.split('\n')[a:b]
    def line_count(self): return self._t.count('\n') + 1
    def grep(self, pat, *a, **k):
        import re
        return [l for l in self._t.split('\n') if re.search(pat, l)][:50]
    def __len__(self): return len(self._t)
    def __str__(self): return self._t
CONTEXT = CtxObject(context)
