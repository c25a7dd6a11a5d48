from surefoot.simulate.features import Features


def two(**more) -> Features:
    settings = {
        "prescribed": (False, True),
        "limited": (True, False),
        "envelope": (True, True),
        "gear_knots": (3, 0),
        "limits": (False, False),
    }
    return Features(**(settings | more))


def test_a_prescribed_joint_is_not_free_and_brings_its_motion():
    assert two().free == [0]
    assert two().plant_columns == 3
    assert two(enabled=True).plant_columns == 4


def test_parts_that_are_not_there_take_no_room():
    assert two().lane_rows == ["armature", "damping", "friction", "bias", "effective"]
    assert two().shared_rows == []
    assert two(load=True, tilt=True).lane_rows[-1] == "load"
    assert two(tilt=True).shared_rows == ["gravity_x", "gravity_y", "gravity_z"]
    assert two(target_velocity=True, feedforward=True).command_columns == 3


def test_every_number_of_a_drive_has_its_own_place():
    where, size = two().gain_layout()
    assert sorted(where.values()) == list(range(size))
    assert {name for name, joint in where if joint == 0} >= {
        "stiffness",
        "damping",
        "limit",
        "stall",
        "inverse_no_load",
        "knot2",
        "bend2",
    }
    assert not any(joint == 1 for _, joint in where)  # prescribed: it has no drive
