def __sp_load_heapq():
    def up(heap, at):
        item = heap[at]
        while at > 0:
            parent = (at - 1) // 2
            if not __sp_lt(item, heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item

    def down(heap, at):
        size = len(heap)
        start = at
        item = heap[at]
        child = 2 * at + 1
        while child < size:
            if child + 1 < size and not __sp_lt(heap[child], heap[child + 1]):
                child += 1
            heap[at] = heap[child]
            at = child
            child = 2 * at + 1
        heap[at] = item
        item = heap[at]
        while at > start:
            parent = (at - 1) // 2
            if not __sp_lt(item, heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item

    def heappush(heap, item):
        heap.append(item)
        up(heap, len(heap) - 1)

    def heappop(heap):
        if not heap:
            raise IndexError("index out of range")
        last = heap.pop()
        if not heap:
            return last
        top = heap[0]
        heap[0] = last
        down(heap, 0)
        return top

    def heapify(heap):
        for at in range(len(heap) // 2 - 1, -1, -1):
            down(heap, at)

    def heapreplace(heap, item):
        top = heap[0]
        heap[0] = item
        down(heap, 0)
        return top

    def heappushpop(heap, item):
        if heap and __sp_lt(heap[0], item):
            item, heap[0] = heap[0], item
            down(heap, 0)
        return item

    def nlargest(n, iterable, key=None):
        return __sp_sorted(iterable, key=key, reverse=True)[:n]

    def nsmallest(n, iterable, key=None):
        return __sp_sorted(iterable, key=key)[:n]

    def merge(*iterables, key=None, reverse=False):
        return iter(__sp_sorted([item for iterable in iterables for item in __sp_all(iterable)], key=key, reverse=reverse))

    return {
        "heappush": heappush, "heappop": heappop, "heapify": heapify, "heapreplace": heapreplace, "heappushpop": heappushpop,
        "nlargest": nlargest, "nsmallest": nsmallest, "merge": merge,
    }


__sp_module("heapq", __sp_load_heapq)
