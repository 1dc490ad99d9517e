

def {batch}(calls):
    """{batch}(list_of_dicts) -> list: {name} with each of these arguments, at once."""
    return [ToolError(item[1]) if item[0] else item[1] for item in _tool_batch("{name}", list(calls))]


_given.append("{batch}")
