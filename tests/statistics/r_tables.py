"""Small tables that come with R and its packages, and are printed in their books and manuals."""

from __future__ import annotations

import numpy as np
import pandas as pd

# mtcars (Henderson and Velleman 1981): mpg, cyl, hp, wt, am.
CARS_1974 = """21 6 110 2.62 1,21 6 110 2.875 1,22.8 4 93 2.32 1,21.4 6 110 3.215 0,18.7 8 175 3.44 0,
18.1 6 105 3.46 0,14.3 8 245 3.57 0,24.4 4 62 3.19 0,22.8 4 95 3.15 0,19.2 6 123 3.44 0,17.8 6 123 3.44 0,
16.4 8 180 4.07 0,17.3 8 180 3.73 0,15.2 8 180 3.78 0,10.4 8 205 5.25 0,10.4 8 215 5.424 0,14.7 8 230 5.345 0,
32.4 4 66 2.2 1,30.4 4 52 1.615 1,33.9 4 65 1.835 1,21.5 4 97 2.465 0,15.5 8 150 3.52 0,15.2 8 150 3.435 0,
13.3 8 245 3.84 0,19.2 8 175 3.845 0,27.3 4 66 1.935 1,26 4 91 2.14 1,30.4 4 113 1.513 1,15.8 8 264 3.17 1,
19.7 6 175 2.77 1,15 8 335 3.57 1,21.4 4 109 2.78 1"""

# swiss (Mosteller and Tukey 1977).
PROVINCES = """80.2 17 15 12 9.96 22.2,83.1 45.1 6 9 84.84 22.2,92.5 39.7 5 5 93.4 20.2,85.8 36.5 12 7 33.77 20.3,
76.9 43.5 17 15 5.16 20.6,76.1 35.3 9 7 90.57 26.6,83.8 70.2 16 7 92.85 23.6,92.4 67.8 14 8 97.16 24.9,
82.4 53.3 12 7 97.67 21,82.9 45.2 16 13 91.38 24.4,87.1 64.5 14 6 98.61 24.5,64.1 62 21 12 8.52 16.5,
66.9 67.5 14 7 2.27 19.1,68.9 60.7 19 12 4.43 22.7,61.7 69.3 22 5 2.82 18.7,68.3 72.6 18 2 24.2 21.2,
71.7 34 17 8 3.3 20,55.7 19.4 26 28 12.11 20.2,54.3 15.2 31 20 2.15 10.8,65.1 73 19 9 2.84 20,
65.5 59.8 22 10 5.23 18,65 55.1 14 3 4.52 22.4,56.6 50.9 22 12 15.14 16.7,57.4 54.1 20 6 4.2 15.3,
72.5 71.2 12 1 2.4 21,74.2 58.1 14 8 5.23 23.8,72 63.5 6 3 2.56 18,60.5 60.8 16 10 7.72 16.3,
58.3 26.8 25 19 18.46 20.9,65.4 49.5 15 8 6.1 22.5,75.5 85.9 3 2 99.71 15.1,69.3 84.9 7 6 99.68 19.8,
77.3 89.7 5 2 100 18.3,70.5 78.2 12 6 98.96 19.4,79.4 64.9 7 3 98.22 20.2,65 75.9 9 9 99.06 17.8,
92.2 84.6 3 3 99.46 16.3,79.3 63.1 13 13 96.83 18.1,70.4 38.4 26 12 5.62 20.3,65.7 7.7 29 11 13.79 20.5,
72.7 16.7 22 13 11.22 18.9,64.4 17.6 35 32 16.92 23,77.6 37.6 15 7 4.97 20,67.6 18.7 25 7 8.65 19.5,
35 1.2 37 53 42.34 18,44.7 46.6 16 29 50.43 18.2,42.8 27.7 22 29 58.33 19.3"""

# cars (Ezekiel 1930): speeds, and stopping distances in their order.
SPEED = """4 4 7 7 8 9 10 10 10 11 11 12 12 12 12 13 13 13 13 14 14 14 14 15 15 15 16 16 17 17 17 18 18 18 18 19 19
19 20 20 20 20 20 22 23 24 24 24 24 25"""
DISTANCE = """2 10 4 22 16 10 18 26 34 17 28 14 20 24 28 26 34 34 46 26 36 60 80 20 26 54 32 40 32 40 50 42 56 76 84
36 46 68 32 48 52 56 64 66 54 70 92 93 120 85"""

# warpbreaks (Tippett 1950): nine looms each of wool A and B, tension L, M, H.
BREAKS = """26 30 54 25 70 52 51 26 67 18 21 29 17 12 18 35 30 36 36 21 24 18 10 43 28 15 26 27 14 29 19 29 31 41 20
44 42 26 19 16 39 28 21 39 29 20 21 24 17 13 15 15 16 28"""

# Moore (Moore and Krupat 1971, carData): the partner's status and the authoritarianism (l, m, h), with the conformity.
MOORE = """ll8 lh4 lh8 ll7 ll10 ll6 lm12 lm4 ll13 ll12 lm4 lh13 ll7 lm9 lh9 lh24 ll6 lh7 lh23 lh13 ll8 ll12 hh19 hm12
hl21 hh9 hl23 hh7 hm17 hm14 hh11 hm16 hl15 hm20 hm8 hl12 hh14 hm14 hm17 hm7 hm17 hh13 hl16 hh10 hm15"""

# Duncan (1961, carData): type (professional, white collar, blue collar), income, education, prestige.
OCCUPATIONS = """p62-86-82 p72-76-83 p75-92-90 p55-90-76 p64-86-90 p21-84-87 p64-93-93 p80-100-90 w67-87-52 p72-86-88
p42-74-57 p76-98-89 p76-97-97 p41-84-59 p48-91-73 w76-34-38 p53-45-76 p60-56-81 p42-44-45 p78-82-92 w29-72-39
w48-55-34 w55-71-41 w29-50-16 b21-23-33 b47-39-53 b81-28-67 b36-32-57 b22-22-26 b44-25-29 b15-29-10 b7-7-15 b42-26-19
b9-19-10 b21-15-13 b21-20-24 b16-26-20 b16-28-7 b9-17-3 b14-22-16 b12-30-6 b17-25-11 b7-20-8 b34-47-41 b8-32-10"""

# birthwt (Hosmer and Lemeshow 1989, MASS): age-weight-race, smoke, ptl, ht, ui, ftv; the last 59 are of low weight.
BIRTHS = """19-182-200010 33-155-300003 20-105-110001 21-108-110012 18-107-110010 21-124-300000 22-118-100001
17-103-300001 29-123-110001 26-113-110000 19-95-300000 19-150-300001 22-95-300100 30-107-301012 18-100-110000
18-100-110000 15-98-200000 25-118-110003 20-120-300010 28-120-110001 32-121-300002 31-100-100013 36-202-100001
28-120-300000 25-120-300012 28-167-100000 17-122-110000 29-150-100002 26-168-210000 17-113-200001 17-113-200001
24-90-111001 35-121-211001 25-155-100001 25-125-200000 29-140-110002 19-138-110002 27-124-110000 31-215-110002
33-109-110001 21-185-210002 19-189-100002 23-130-200001 21-160-100000 18-90-110010 18-90-110010 32-132-100004
19-132-300000 24-115-100002 22-85-310000 22-120-100101 23-128-300000 22-130-110000 30-95-110002 19-115-300000
16-110-300000 21-110-310010 30-153-300000 20-103-300000 17-119-300000 17-119-300000 23-119-300002 24-110-300000
28-140-100000 26-133-312000 20-169-301011 24-115-300002 28-250-310006 20-141-102011 22-158-201002 22-112-112000
31-150-310002 23-115-310001 16-112-200000 16-135-110000 18-229-200000 25-140-100001 32-134-111004 20-121-210000
23-190-100000 22-131-100001 32-170-100000 30-110-300000 20-127-300000 23-123-300000 17-120-310000 19-105-300000
23-130-100000 36-175-100000 22-125-100001 24-133-100000 21-134-300002 19-235-110100 25-95-113010 16-135-110000
29-135-100001 29-154-100001 19-147-110000 19-147-110000 30-137-100001 24-110-100001 19-184-110100 24-110-301000
23-110-100001 20-120-300000 25-241-200100 30-112-100001 22-169-100000 18-120-110002 16-170-200004 32-186-100002
18-120-300001 29-130-110002 33-117-100011 20-170-110000 28-134-300001 14-135-100000 28-130-300000 25-120-100002
16-95-300001 20-158-100001 26-160-300000 21-115-100001 22-129-100000 25-130-100002 31-120-100002 35-170-101001
19-120-110000 24-116-100001 45-123-100001 28-120-311010 29-130-100012 34-187-210100 25-105-301100 25-85-300010
27-150-300000 23-97-300011 24-128-201001 24-132-300100 21-165-110101 32-105-110000 19-91-112010 25-115-300000
16-130-300001 25-92-110000 20-150-110002 21-200-200012 24-155-111000 21-103-300000 20-125-300010 25-89-302001
19-102-100002 19-112-110010 26-117-111000 24-138-100000 17-130-311010 20-120-210003 22-130-111011 27-130-200010
20-80-310010 17-110-110000 25-105-301001 20-109-300000 18-148-300000 18-110-211000 20-121-111010 21-100-301004
26-96-300000 31-102-111001 15-110-100000 23-187-210001 20-122-210000 24-105-210000 15-115-300010 23-120-300000
30-142-111000 22-130-110001 17-120-110003 23-110-111000 17-120-200002 26-154-301101 20-105-300003 26-190-110000
14-101-311000 28-95-110002 14-100-300002 23-94-310000 17-142-200100 21-130-110103"""

# High School and Beyond, 200 pupils: program (general, academic, vocational), status (low, middle, high), writing.
PUPILS = """gl52 vm59 gh33 vh44 am52 am52 gm59 am46 gm57 am55 vm46 am65 ah60 ah63 al57 gl49 ah52 gm57 ah65 gm39 gm49
vm63 am40 ah52 vm44 vm37 ah65 vm57 ah38 gl44 gm31 ah52 ah67 vm41 ah59 gh65 am54 ah62 vl31 vm31 am47 am59 am54 gl41
gh65 gl59 vh40 am59 am59 am54 am61 ah33 gm44 am59 am62 vh39 vl37 vm39 am57 vm49 am46 ah62 gl44 gm33 ah42 vm41 am54
vl39 al43 vm33 gm44 ah54 am67 gm59 vm45 al40 ah61 gh59 vm36 ah41 ah59 vl49 am59 al65 vm41 ah62 ah41 vh49 vm31 ah49
am62 gl49 ah62 al44 gl44 gl62 am65 ah65 vl44 ah63 ah60 gh59 al46 ah52 am59 am54 ah62 vl35 gl54 ah65 vm52 al50 ah59
al65 ah61 vm44 gh54 ah67 al57 vl47 gl54 gm52 am52 vm46 vl62 ah57 am41 gm53 vh49 vl35 am59 al65 vm62 vm54 al59 ah63
am59 vm52 vm41 am49 gl46 ah54 vm42 am57 am59 ah52 vm62 am52 al41 al55 al37 ah54 vm57 gm54 gm62 am59 vm55 vm57 gm39
ah67 al62 am50 ah61 al62 am59 vl44 am59 gl54 am62 vl60 gl57 vm46 gh36 ah59 gl49 al60 am67 am54 vh52 gl65 am62 am49
gh67 am65 vh67 al65 gm54 gm44 ah62 al46 vl54 gh57 vm52 ah59 am65 gm59 vm46 gm41 gm62 ah65"""


def numbers(text: str, names: list[str]) -> pd.DataFrame:
    return pd.DataFrame([list(map(float, row.split())) for row in text.split(",")], columns=names)


def mtcars() -> pd.DataFrame:
    return numbers(CARS_1974, ["mpg", "cyl", "hp", "wt", "am"])


def swiss() -> pd.DataFrame:
    names = ["Fertility", "Agriculture", "Examination", "Education", "Catholic", "Infant"]
    return numbers(PROVINCES, names)


def cars() -> pd.DataFrame:
    return pd.DataFrame({"speed": list(map(float, SPEED.split())), "dist": list(map(float, DISTANCE.split()))})


def warpbreaks() -> pd.DataFrame:
    tension = np.tile(np.repeat(["L", "M", "H"], 9), 2)
    return pd.DataFrame(
        {"breaks": list(map(float, BREAKS.split())), "wool": np.repeat(["A", "B"], 27), "tension": tension}
    )


def moore() -> pd.DataFrame:
    rows = [(cell[0], cell[1], float(cell[2:])) for cell in MOORE.split()]
    return pd.DataFrame(rows, columns=["partner", "fcategory", "conformity"])


def duncan() -> pd.DataFrame:
    rows = [("bpw".index(cell[0]), *map(float, cell[1:].split("-"))) for cell in OCCUPATIONS.split()]
    out = pd.DataFrame(rows, columns=["type", "income", "education", "prestige"])
    out["type"] = np.array(["bc", "prof", "wc"])[out["type"]]
    return out


def births() -> pd.DataFrame:
    """As MASS (Venables and Ripley 2002, section 7.2) recodes birthwt."""
    cells = [cell.split("-") for cell in BIRTHS.split()]
    out = pd.DataFrame({"age": [float(c[0]) for c in cells], "lwt": [float(c[1]) for c in cells]})
    race, smoke, ptl, ht, ui, ftv = np.array([list(map(int, c[2])) for c in cells]).T
    out["race"] = pd.Categorical(np.array(["white", "black", "other"])[race - 1], ["white", "black", "other"])
    for name, column in {"smoke": smoke, "ptd": ptl > 0, "ht": ht, "ui": ui}.items():
        out[name] = column.astype(float)
    out["ftv"] = np.array(["0", "1", "2+"])[np.minimum(ftv, 2)]
    out["low"] = np.repeat([0, 1], [130, 59])
    return out


def pupils() -> pd.DataFrame:
    words = {"g": "general", "a": "academic", "v": "vocation", "l": "low", "m": "middle", "h": "high"}
    rows = [(words[cell[0]], words[cell[1]], float(cell[2:])) for cell in PUPILS.split()]
    out = pd.DataFrame(rows, columns=["prog", "ses", "write"])
    out["ses"] = pd.Categorical(out["ses"], ["low", "middle", "high"])
    return out
