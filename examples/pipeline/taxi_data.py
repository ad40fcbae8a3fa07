"""Makes up taxi trips: what a city's records look like, gaps and odd rows included.

Trips go between areas of different wealth, at hours of a working week, and are paid by card or in cash.
Whether a tip is large hangs together with the way of paying, the fare, the hour and the area. Each span is a
week.
"""

import csv
from pathlib import Path

import numpy as np

AREAS = 24
COMPANIES = ["Blue Diamond", "Checker", "City Service", "Flash Cab", "Globe", "Sun Taxi", "Star North", "Top"]
PAYMENTS = ["Cash", "Credit Card", "Mobile", "No Charge"]
COLUMNS = (
    "trip_start_hour,trip_start_day,pickup_area,dropoff_area,pickup_latitude,pickup_longitude,"
    "trip_miles,trip_seconds,fare,payment_type,company,big_tip"
).split(",")


def make_trips(rows, span, seed=7):
    """Columns of one span's trips; None where a record has a gap."""
    city = np.random.default_rng(seed)  # the same city in every span
    latitudes, longitudes = 41.7 + 0.3 * city.random(AREAS), -87.8 + 0.25 * city.random(AREAS)
    popular, wealth = city.dirichlet(np.ones(AREAS)), city.normal(size=AREAS)
    shares = city.dirichlet(2 * np.ones(len(COMPANIES)))

    random = np.random.default_rng([seed, span])
    day = random.choice(7, rows, p=np.array([1.2, 1, 1, 1, 1.1, 1.5, 1.6]) / 8.4)
    rush = np.array([3, 2, 2, 1, 1, 1, 2, 4, 6, 6, 5, 5, 5, 5, 5, 5, 6, 7, 8, 7, 6, 5, 5, 4], float)
    hour = random.choice(24, rows, p=rush / rush.sum())
    start, end = random.choice(AREAS, (2, rows), p=popular)
    straight = 55 * np.hypot(latitudes[start] - latitudes[end], 0.75 * (longitudes[start] - longitudes[end]))
    miles = np.round(0.4 + straight * random.lognormal(0.15, 0.25, rows), 1)
    speed = 24 / (1 + 0.12 * rush[hour]) * random.lognormal(0, 0.15, rows)
    seconds = 60 * np.round(1 + 60 * miles / speed)
    fare = np.round(3.25 + 2.25 * miles + 0.25 * seconds / 36 * random.lognormal(-1, 0.2, rows), 2)
    cards = min(0.8, 0.42 + 0.02 * span)  # payment by card grows from week to week
    payment = random.choice(len(PAYMENTS), rows, p=[0.93 - cards, cards, 0.06, 0.01])
    likes = -2.2 + 3.1 * (payment == 1) + 2.4 * (payment == 2) + 0.7 * wealth[start] - 0.03 * fare
    likes += 0.5 * ((hour >= 17) & (day < 5)) + 0.3 * (day >= 5)
    tip = random.random(rows) < 1 / (1 + np.exp(-likes))
    return {
        "trip_start_hour": hour,
        "trip_start_day": day + 1,
        "pickup_area": _with_gaps(start + 1, 0.04, random),
        "dropoff_area": _with_gaps(end + 1, 0.06, random),
        "pickup_latitude": np.round(latitudes[start] + random.normal(0, 0.004, rows), 5),
        "pickup_longitude": np.round(longitudes[start] + random.normal(0, 0.004, rows), 5),
        "trip_miles": miles,
        "trip_seconds": seconds.astype(int),
        "fare": fare,
        "payment_type": np.array(PAYMENTS)[payment],
        "company": _with_gaps(
            np.array(COMPANIES)[random.choice(len(COMPANIES), rows, p=shares)], 0.3, random
        ),
        "big_tip": tip.astype(int),
    }


def _with_gaps(column, share, random):
    return np.where(random.random(len(column)) < share, None, column)


def break_payments(trips):
    """What a changed upstream system does to a span: new spellings, and fares in cents."""
    trips["payment_type"] = np.char.upper(trips["payment_type"].astype(str))
    trips["fare"] = np.round(100 * trips["fare"], 0)


def write_span(folder, span, rows, broken=False):
    """Writes one span as a CSV file, unless it is there."""
    path = Path(folder) / f"span-{span}" / "trips.csv"
    if path.exists():
        return
    trips = make_trips(rows, span)
    if broken:
        break_payments(trips)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(zip(*(trips[name].tolist() for name in COLUMNS)))
    partial.rename(path)
