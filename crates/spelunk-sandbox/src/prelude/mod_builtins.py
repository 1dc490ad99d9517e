def __sp_load_builtins():
    found = {
        "abs": abs, "all": all, "any": any, "bin": bin, "chr": chr, "divmod": divmod, "enumerate": enumerate, "filter": filter,
        "getattr": getattr, "hash": hash, "hex": hex, "id": id, "len": len, "map": map, "max": max, "min": min, "next": next, "oct": oct,
        "ord": ord, "pow": pow, "print": print, "repr": repr, "reversed": reversed, "round": round, "sorted": sorted, "sum": sum,
        "type": type, "zip": zip, "format": format, "open": open, "str": str, "int": int, "float": float, "bool": bool, "list": list,
        "dict": dict, "set": set, "tuple": tuple, "frozenset": frozenset, "bytes": bytes, "range": range, "iter": iter, "object": object,
        "isinstance": __sp_isinstance, "hasattr": __sp_hasattr, "callable": __sp_callable, "dir": __sp_dir, "vars": __sp_vars,
        "globals": __sp_globals, "issubclass": __sp_issubclass, "input": __sp_input, "exit": __sp_exit, "quit": __sp_exit, "help": __sp_help,
    }
    for kind in __sp_native_exceptions:
        found[__sp_name_of(kind)] = kind
    return found


__sp_module("builtins", __sp_load_builtins)
