answer = {"content": "", "ready": False}


def llm_query_batched(prompts, model=None, schema=None):
    """llm_query_batched(prompts, model=None, schema=None) -> list: many questions at once."""
    return [ModelError(item[1]) if item[0] else item[1] for item in _llm_batch(list(prompts), model, schema)]


def rlm_query_batched(prompts, contexts=None, model=None, schema=None):
    """rlm_query_batched(prompts, contexts=None, model=None, schema=None) -> list: many children at once."""
    prompts = list(prompts)
    contexts = [None] * len(prompts) if contexts is None else list(contexts)
    return [ModelError(item[1]) if item[0] else item[1] for item in _rlm_batch(prompts, contexts, model, schema)]


def FINAL_VAR(name):
    """FINAL_VAR(name): ends the work with the value of a variable."""
    if not isinstance(name, str):
        return FINAL(name)
    key = name.strip().strip("'\"")
    if key not in globals():
        raise NameError("there is no variable '" + key + "'; you have: " + SHOW_VARS())
    return FINAL(globals()[key])


def SUBMIT(*values, **fields):
    """SUBMIT(answer) or SUBMIT(field=value, ...): ends the work with this answer."""
    if fields:
        return FINAL(fields["answer"] if list(fields) == ["answer"] else fields)
    return FINAL(values[0] if len(values) == 1 else list(values))


def SHOW_VARS():
    """SHOW_VARS() -> str: the names and types of your variables."""
    names = [name for name in globals() if not name.startswith("_") and name not in _given]
    if not names:
        return "no variables yet"
    return ", ".join(name + ": " + type(globals()[name]).__name__ for name in sorted(names))


llm_batch = llm_query_batched
llm_query_batch = llm_query_batched
submit = SUBMIT
final_answer = FINAL
