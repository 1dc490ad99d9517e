def __sp_echo(value):
    if value is not None:
        print(repr(value))
