def __sp_load_futures():
    return {
        "ThreadPoolExecutor": __sp_Executor, "ProcessPoolExecutor": __sp_Executor, "as_completed": __sp_as_completed,
        "wait": __sp_wait, "Future": __sp_Future, "TimeoutError": TimeoutError, "ALL_COMPLETED": "ALL_COMPLETED",
        "FIRST_COMPLETED": "FIRST_COMPLETED", "FIRST_EXCEPTION": "FIRST_EXCEPTION", "Executor": __sp_Executor,
    }


__sp_module("concurrent.futures", __sp_load_futures)
