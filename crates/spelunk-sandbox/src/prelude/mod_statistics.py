def __sp_load_statistics():
    import math

    def checked(data, name, least=1):
        data = list(__sp_all(data))
        if len(data) < least:
            if least == 1:
                raise failure(name + " requires at least one data point")
            raise failure(name + " requires at least two data points")
        return data

    class StatisticsError:
        pass
    StatisticsError = __sp_class(StatisticsError, (ValueError,), [])

    def failure(text):
        return __sp_raise(StatisticsError(text))

    def whole(value, data):
        if all([isinstance(item, int) for item in data]) and value == int(value):
            return int(value)
        return value

    def mean(data, weights=None):
        data = checked(data, "mean")
        if weights is not None:
            return sum([a * b for a, b in zip(data, weights)]) / sum(weights)
        return whole(total(data) / len(data), data)

    def total(data):
        return math.fsum(data) if any([isinstance(item, float) for item in data]) else sum(data)

    def fmean(data, weights=None):
        data = checked(data, "fmean")
        if weights is not None:
            return math.fsum([a * b for a, b in zip(data, weights)]) / math.fsum(weights)
        return math.fsum(data) / len(data)

    def median(data):
        if not list(data):
            raise failure("no median for empty data")
        data = sorted(data)
        middle = len(data) // 2
        return data[middle] if len(data) % 2 else (data[middle - 1] + data[middle]) / 2

    def median_low(data):
        data = sorted(checked(data, "median"))
        return data[(len(data) - 1) // 2]

    def median_high(data):
        data = sorted(checked(data, "median"))
        return data[len(data) // 2]

    def counts(data):
        found = {}
        for item in data:
            found[item] = found.get(item, 0) + 1
        return found

    def mode(data):
        found = counts(data)
        if not found:
            raise failure("no mode for empty data")
        best = max(found.values())
        for item, n in found.items():
            if n == best:
                return item

    def multimode(data):
        found = counts(data)
        best = max(found.values()) if found else 0
        return [item for item, n in found.items() if n == best]

    def spread(data, center):
        if center is None:
            center = total(data) / len(data)
        return total([(item - center) ** 2 for item in data])

    def variance(data, xbar=None):
        data = checked(data, "variance", 2)
        return whole(spread(data, xbar) / (len(data) - 1), data)

    def pvariance(data, mu=None):
        data = checked(data, "pvariance")
        return whole(spread(data, mu) / len(data), data)

    def stdev(data, xbar=None):
        data = checked(data, "stdev", 2)
        return math.sqrt(spread(data, xbar) / (len(data) - 1))

    def pstdev(data, mu=None):
        data = checked(data, "pstdev")
        return math.sqrt(spread(data, mu) / len(data))

    def geometric_mean(data):
        data = checked(data, "geometric mean")
        return math.exp(math.fsum([math.log(item) for item in data]) / len(data))

    def harmonic_mean(data, weights=None):
        data = checked(data, "harmonic_mean")
        return len(data) / sum([1 / item for item in data])

    def quantiles(data, *, n=4, method="exclusive"):
        data = sorted(checked(data, "quantiles", 2))
        found = []
        size = len(data)
        if method == "inclusive":
            for i in range(1, n):
                j, delta = divmod(i * (size - 1), n)
                found.append((data[j] * (n - delta) + data[min(j + 1, size - 1)] * delta) / n)
            return found
        for i in range(1, n):
            j = i * (size + 1) // n
            j = 1 if j < 1 else (size - 1 if j > size - 1 else j)
            delta = i * (size + 1) - j * n
            found.append((data[j - 1] * (n - delta) + data[j] * delta) / n)
        return found

    def correlation(x, y):
        x, y = list(x), list(y)
        mx, my = fmean(x), fmean(y)
        sxy = math.fsum([(a - mx) * (b - my) for a, b in zip(x, y)])
        return sxy / math.sqrt(math.fsum([(a - mx) ** 2 for a in x]) * math.fsum([(b - my) ** 2 for b in y]))

    def covariance(x, y):
        x, y = list(x), list(y)
        mx, my = fmean(x), fmean(y)
        return math.fsum([(a - mx) * (b - my) for a, b in zip(x, y)]) / (len(x) - 1)

    return {
        "mean": mean, "fmean": fmean, "median": median, "median_low": median_low, "median_high": median_high, "mode": mode,
        "multimode": multimode, "variance": variance, "pvariance": pvariance, "stdev": stdev, "pstdev": pstdev,
        "geometric_mean": geometric_mean, "harmonic_mean": harmonic_mean, "quantiles": quantiles, "correlation": correlation,
        "covariance": covariance, "StatisticsError": StatisticsError,
    }


__sp_module("statistics", __sp_load_statistics)
