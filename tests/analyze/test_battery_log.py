"""A user's own battery log: units, signs, gaps, and what the command makes of it."""

import json

import numpy as np
import pytest

from surefoot import SurefootError, cli
from surefoot.analyze.battery_log import BatteryLog


def written(path, header="time [s],voltage [V],current [A],speed [m/s]", rows=None):
    rows = [(t, 48.0, 10.0 + (t % 20) / 10, 1.0) for t in range(0, 101, 10)] if rows is None else rows
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_energy_is_voltage_times_current_over_time(tmp_path):
    """48 V at 10 A and 11 A in turns for 100 s: 50.4 kJ, 504 W."""
    log = BatteryLog.load(written(tmp_path / "log.csv"))
    assert log.energy == pytest.approx(48 * 10.5 * 100)
    assert log.mean_power == pytest.approx(504)
    assert log.distance[-1] == pytest.approx(100)


@pytest.mark.parametrize(
    ("header", "factors"),
    [
        ("t_ms,battery_voltage [mV],battery_current [mA],speed [km/h]", (1e3, 1e3, 1e3, 3.6)),
        ("timestamp_ns,voltage_mv,current_ma,vx [m/s]", (10**9, 1e3, 1e3, 1)),
        ("Time [s],Bus Voltage (V),Bus Current (A),v_x (m/s)", (1, 1, 1, 1)),
    ],
)
def test_units_in_the_header_are_read(tmp_path, header, factors):
    """The same walk in milliseconds, millivolts and kilometres per hour costs the same."""
    rows = [(int(t * factors[0]), 48.0 * factors[1], 10.0 * factors[2], factors[3]) for t in range(0, 101, 10)]
    log = BatteryLog.load(written(tmp_path / "log.csv", header, rows))
    assert log.energy == pytest.approx(48000)
    assert log.distance[-1] == pytest.approx(100)


def test_the_way_is_counted_along_a_track(tmp_path):
    """Four sides of a square of 100 m are 400 m, though the robot is back where it began."""
    corners = [(0, 0), (100, 0), (100, 100), (0, 100), (0, 0)]
    rows = [(100 * k, 48, 10, x, y) for k, (x, y) in enumerate(corners)]
    log = BatteryLog.load(written(tmp_path / "log.csv", "time,voltage,current,x,y", rows))
    assert log.distance[-1] == pytest.approx(400)


def test_charge_falls_lap_by_lap(tmp_path):
    """480 W at 1 m/s take 0.05333 kWh over 400 m: 5.88 % of 907.2 Wh; a battery's own charge is believed."""
    rows = [(t, 48.0, 10.0, t) for t in range(0, 1001, 100)]
    log = BatteryLog.load(written(tmp_path / "log.csv", "time,voltage,current,distance", rows))
    at, charge = log.charge_over_distance(907.2, 400.0)
    np.testing.assert_allclose(at, [0, 400, 800, 1000])
    np.testing.assert_allclose(1 - charge, 480 * at / 3600 / 907.2)
    rows = [(*row, 90 - row[0] / 50) for row in rows]
    own = BatteryLog.load(written(tmp_path / "own.csv", "time,voltage,current,distance,soc [%]", rows))
    np.testing.assert_allclose(own.charge_over_distance(907.2, 500.0)[1], [0.9, 0.8, 0.7])


@pytest.mark.parametrize(
    ("header", "row", "sentence"),
    [
        ("time,voltage,current", (48000, 10), r"'voltage' is without a unit and reaches 48000 V.*voltage \[mV\]"),
        ("time,voltage [V],current", (0.048, 10), r"'voltage \[V\]' is in V and reaches 0.048 V"),
        ("time,voltage [kV],current", (48, 10), r"is in 'kV'; a voltage can be in V, mV"),
        ("time,voltage,current", (48, -10), r"gains energy \(-480 W on average\).*--flip-current"),
        ("time,voltage,temperature", (48, 10), "columns time, voltage, temperature; .* needs time, voltage and current"),
        ("clock,voltage,current", (48, 10), "0 columns of time among clock, voltage, current"),
        ("time,voltage,u,current", (48, 48, 10), "both 'voltage' and 'u' are a voltage"),
        ("time,voltage,current,speed", (48, 10, 100), r"reaches 100 m/s, which no legged robot's speed does.*speed \[km/h\]"),
        ("time,voltage,current", (48, ""), "row 1 has no current"),
    ],
)
def test_a_log_that_cannot_be_is_refused_with_what_to_write(tmp_path, header, row, sentence):
    path = written(tmp_path / "log.csv", header, [(t, *row) for t in range(5)])
    with pytest.raises(SurefootError, match=sentence):
        BatteryLog.load(path)


def test_time_must_increase_and_a_gap_is_told(tmp_path):
    with pytest.raises(SurefootError, match="time does not increase from row 2 to row 3"):
        BatteryLog.load(written(tmp_path / "a.csv", "time,voltage,current", [(0, 48, 1), (1, 48, 1), (1, 48, 1)]))
    with pytest.raises(SurefootError, match="1 samples"):
        BatteryLog.load(written(tmp_path / "b.csv", "time,voltage,current", [(0, 48, 1)]))
    rows = [(t, 48, 1) for t in (*range(10), *range(100, 110))]
    log = BatteryLog.load(written(tmp_path / "c.csv", "time,voltage,current", rows))
    assert log.notes[-1] == "91 s without a sample from 9 s on; power is taken as straight there"


# --- the command ------------------------------------------------------------------------------------------------------------
def test_the_command_gives_the_paper_s_parts(tmp_path, monkeypatch, capsys):
    """A log of Tytan's row, 104 minutes at 486.7 W over 6100 m, gives CoE 0.29, CoD 0.21, CoL 0.47 and CoT 0.97."""
    monkeypatch.chdir(tmp_path)
    rows = [(60 * k, 48.0, 486.7 / 48, 6100 * k / 104) for k in range(105)]
    written(tmp_path / "tytan.csv", "time [s],voltage [V],current [A],distance [m]", rows)
    assert cli.main(["energy", "tytan.csv", "--robot", "tytan", "--json", "out.json"]) == 0
    figures = json.loads((tmp_path / "out.json").read_text())
    assert [round(figures[k], 2) for k in ("coe", "cod", "col", "cot")] == [0.29, 0.21, 0.47, 0.97]
    out = capsys.readouterr().out
    assert "0.97" in out
    assert "15.25" in out  # laps


def test_rest_and_off_may_be_logs_of_their_own(tmp_path, monkeypatch):
    """The two tests that the parts need can be given as logs; a mass without a robot is enough beside them."""
    monkeypatch.chdir(tmp_path)
    for name, amperes in (("walk", 11.0), ("rest", 5.0), ("off", 3.0)):
        written(tmp_path / f"{name}.csv", "time,voltage,current", [(t, 48, amperes) for t in range(0, 100, 9)])
    command = ["energy", "walk.csv", "--mass", "50", "--off", "off.csv", "--rest", "rest.csv", "--distance", "99"]
    assert cli.main([*command, "--json", "out.json"]) == 0
    figures = json.loads((tmp_path / "out.json").read_text())
    assert (figures["off"], figures["rest"]) == (pytest.approx(144), pytest.approx(240))
    assert figures["col"] == pytest.approx((528 - 240) / (50 * 9.81 * 1.0))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "needs the robot's mass: pass --robot NAME, or --mass"),
        (["--mass", "50"], "--off is missing: the power [W] of the robot with its drives disabled"),
        (["--robot", "anymal"], "says nothing of the way: pass --distance"),
        (
            ["--robot", "anymal", "--distance", "90", "--rest", "100"],
            "217 W with its drives disabled and 100 W with them enabled",
        ),
        (["--robot", "anymal", "--distance", "90", "--off", "nothing.csv"], "there is no log at nothing.csv"),
    ],
)
def test_what_is_missing_is_said(tmp_path, monkeypatch, capsys, options, sentence):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "walk.csv", "time,voltage,current", [(t, 48, 11) for t in range(0, 100, 9)])
    assert cli.main(["energy", "walk.csv", *options]) == 1
    assert sentence in capsys.readouterr().err
