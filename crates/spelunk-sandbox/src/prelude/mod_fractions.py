class __sp_Fraction:
    def __init__(self, numerator=0, denominator=1):
        import math
        if isinstance(numerator, __sp_Fraction):
            numerator, denominator = numerator.numerator, numerator.denominator * denominator
        elif isinstance(numerator, str):
            text = numerator.strip()
            if "/" in text:
                top, bottom = text.split("/")
                numerator, denominator = int(top), int(bottom)
            elif "." in text:
                whole, part = text.split(".")
                numerator, denominator = int(whole + part), 10 ** len(part)
            else:
                numerator = int(text)
        elif isinstance(numerator, float):
            numerator, denominator = __sp_as_integer_ratio(numerator)
        if isinstance(denominator, __sp_Fraction):
            numerator, denominator = numerator * denominator.denominator, denominator.numerator
        if denominator == 0:
            raise ZeroDivisionError("Fraction(" + str(numerator) + ", 0)")
        common = math.gcd(numerator, denominator)
        if denominator < 0:
            common = -common
        self.numerator = numerator // common
        self.denominator = denominator // common

    def __add__(self, other):
        other = __sp_fraction(other)
        return __sp_Fraction(self.numerator * other.denominator + other.numerator * self.denominator, self.denominator * other.denominator)

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return __sp_Fraction(-self.numerator, self.denominator)

    def __abs__(self):
        return __sp_Fraction(abs(self.numerator), self.denominator)

    def __sub__(self, other):
        return self + (-__sp_fraction(other))

    def __rsub__(self, other):
        return __sp_fraction(other) - self

    def __mul__(self, other):
        other = __sp_fraction(other)
        return __sp_Fraction(self.numerator * other.numerator, self.denominator * other.denominator)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        other = __sp_fraction(other)
        return __sp_Fraction(self.numerator * other.denominator, self.denominator * other.numerator)

    def __rtruediv__(self, other):
        return __sp_fraction(other) / self

    def __floordiv__(self, other):
        found = self / other
        return found.numerator // found.denominator

    def __mod__(self, other):
        return self - __sp_fraction(other) * (self // other)

    def __pow__(self, power):
        if power < 0:
            return __sp_Fraction(self.denominator ** -power, self.numerator ** -power)
        return __sp_Fraction(self.numerator ** power, self.denominator ** power)

    def __eq__(self, other):
        other = __sp_fraction(other)
        return self.numerator == other.numerator and self.denominator == other.denominator

    def __hash__(self):
        return hash((self.numerator, self.denominator))

    def __lt__(self, other):
        other = __sp_fraction(other)
        return self.numerator * other.denominator < other.numerator * self.denominator

    def __gt__(self, other):
        return __sp_fraction(other).__lt__(self)

    def __le__(self, other):
        return not self.__gt__(other)

    def __ge__(self, other):
        return not self.__lt__(other)

    def __float__(self):
        return self.numerator / self.denominator

    def __int__(self):
        return int(self.numerator / self.denominator)

    def __bool__(self):
        return self.numerator != 0

    def limit_denominator(self, limit=1000000):
        best = None
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self.numerator, self.denominator
        if d <= limit:
            return self
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > limit:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (limit - q0) // q1
        one, two = __sp_Fraction(p0 + k * p1, q0 + k * q1), __sp_Fraction(p1, q1)
        return two if not abs(one - self).__lt__(abs(two - self)) else one

    def __str__(self):
        return str(self.numerator) if self.denominator == 1 else str(self.numerator) + "/" + str(self.denominator)

    def __repr__(self):
        return "Fraction(" + str(self.numerator) + ", " + str(self.denominator) + ")"


def __sp_fraction(value):
    return value if isinstance(value, __sp_Fraction) else __sp_Fraction(value)


def __sp_load_fractions():
    return {"Fraction": __sp_Fraction}


__sp_module("fractions", __sp_load_fractions)
