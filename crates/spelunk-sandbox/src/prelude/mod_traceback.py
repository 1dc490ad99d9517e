def __sp_load_traceback():
    def described(error):
        text = str(error)
        kind = __sp_name_of(type(error))
        return kind + (": " + text if text else "")

    def format_exc(limit=None, chain=True):
        try:
            error = __sp_caught(__sp_current())
        except RuntimeError:
            return "NoneType: None\n"
        return "Traceback (most recent call last):\n" + described(error) + "\n"

    def print_exc(limit=None, file=None, chain=True):
        __sp_print(format_exc(), end="", file=file)

    def the_error(args, more):
        for one in list(args)[::-1]:
            if one is not None and not isinstance(one, int) and str(type(one)) != "<class 'type'>":
                return one
        return more.get("value") or more.get("exc")

    def format_exception(*args, **more):
        return ["Traceback (most recent call last):\n", described(the_error(args, more)) + "\n"]

    def format_exception_only(*args, **more):
        return [described(the_error(args, more)) + "\n"]

    def print_exception(*args, **more):
        print("".join(format_exception(*args)), end="")

    return {
        "format_exc": format_exc, "print_exc": print_exc, "format_exception": format_exception, "print_exception": print_exception,
        "format_exception_only": format_exception_only, "format_tb": lambda *a: [], "extract_tb": lambda *a: [],
        "print_stack": lambda *a, **k: None, "format_stack": lambda *a, **k: [], "print_tb": lambda *a, **k: None,
    }


__sp_module("traceback", __sp_load_traceback)
