import collections as __sp_collections


def __sp_load_collections():
    return {
        "Counter": __sp_collections.Counter, "defaultdict": __sp_collections.defaultdict, "deque": __sp_collections.deque,
        "namedtuple": __sp_collections.namedtuple, "OrderedDict": __sp_Ordered, "ChainMap": __sp_ChainMap, "UserDict": __sp_Ordered,
    }


__sp_module("collections", __sp_load_collections)
