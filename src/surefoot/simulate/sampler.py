"""The command as each lane's drive sees it: interpolated at t − T_d for a chunk of steps ahead, lane by lane.

Each lane keeps a pointer into the command's knots, which may be irregular; it only ever moves forward. Where the stamps lie on
the physics steps and the lanes of a block lag by the same whole number of steps k and a part f of one,

    û_i = c_{i−k} + f (c_{i−k−1} − c_{i−k})

for all lanes at once: the rule in a search whose candidates are sorted by delay.
"""

from __future__ import annotations

from surefoot.simulate.features import Features

CHUNK = 32  # physics steps sampled at once


def sampler(has: Features, *, T: str, scalar: str, lanes: int) -> list[str]:
    """The code around the step: chunks of steps, and within each the command of every lane sampled ahead."""
    columns = len(has.free) * has.command_columns
    pointers = lanes * (len(has.free) if has.joint_delays else 1)
    return [
        *_chunks(pointers),
        *(["  br label %lane"] if has.joint_delays else _together(columns, T, scalar)),
        *_pointers(has, lanes),
        *_interpolation(columns, has.command_columns if has.joint_delays else columns, scalar, lanes),
        *_loop_ends(pointers),
    ]


def _chunks(pointers: int) -> list[str]:
    """Every pointer starts at the first knot; then chunk after chunk of steps i0 .. i_end."""
    return [
        "reset:",
        "  %r = phi i64 [ 0, %entry ], [ %r_next, %reset ]",
        "  %r_where = getelementptr i64, ptr %pointer, i64 %r",
        "  store i64 0, ptr %r_where",
        "  %r_next = add i64 %r, 1",
        f"  %r_more = icmp slt i64 %r_next, {pointers}",
        "  br i1 %r_more, label %reset, label %chunk",
        "chunk:",
        "  %i0 = phi i64 [ 0, %reset ], [ %i_next, %chunk_end ]",
        f"  %i_far = add i64 %i0, {CHUNK}",
        "  %i_over = icmp slt i64 %i_far, %steps",
        "  %i_end = select i1 %i_over, i64 %i_far, i64 %steps",
    ]


def _pointers(has: Features, lanes: int) -> list[str]:
    """For each lane (and joint, where each has its delay) and step: the last knot that is not later than t − T_d."""
    delay = "0.0" if has.delay_torque else "%late"
    return [
        "lane:",
        f"  %w = phi i64 [ 0, %{'chunk' if has.joint_delays else 'lane_loop'} ], [ %w_next, %lane_end ]",
        "  %late_at = getelementptr double, ptr %delays, i64 %w",
        "  %late = load double, ptr %late_at",
        "  %pointer_at = getelementptr i64, ptr %pointer, i64 %w",
        "  %j_start = load i64, ptr %pointer_at",
        f"  %group = udiv i64 %w, {lanes}",
        f"  %in_group = urem i64 %w, {lanes}",
        "  br label %sample",
        "sample:",
        "  %ii = phi i64 [ %i0, %lane ], [ %ii_next, %sample_end ]",
        "  %j_old = phi i64 [ %j_start, %lane ], [ %j, %sample_end ]",
        "  %ii_double = sitofp i64 %ii to double",
        "  %now = fmul double %ii_double, %h",
        f"  %then = fsub double %now, {delay}",
        "  br label %advance",
        "advance:",
        "  %j = phi i64 [ %j_old, %sample ], [ %j_plus, %advance ]",
        "  %j_plus = add i64 %j, 1",
        "  %j_twice = mul i64 %j_plus, 2",
        "  %ahead_at = getelementptr double, ptr %command_time, i64 %j_twice",
        "  %ahead = load double, ptr %ahead_at",
        "  %passed = fcmp ole double %ahead, %then",
        "  br i1 %passed, label %advance, label %interpolate",
    ]


def _interpolation(columns: int, of_lane: int, scalar: str, lanes: int) -> list[str]:
    """The command between knots j and j + 1 into the lane's cells of the chunk; before the first knot it is the first command."""
    lines = [
        "interpolate:",
        "  %j_row = mul i64 %j, 2",
        "  %since_at = getelementptr double, ptr %command_time, i64 %j_row",
        "  %since = load double, ptr %since_at",
        "  %slope_at = getelementptr double, ptr %since_at, i64 1",
        "  %slope = load double, ptr %slope_at",
        "  %gone = fsub double %then, %since",
        "  %part0 = fmul double %gone, %slope",
        "  %part1 = call double @llvm.maxnum.f64(double %part0, double 0.0)",
        "  %part = call double @llvm.minnum.f64(double %part1, double 1.0)",
        "  %chunk_row = sub i64 %ii, %i0",
        f"  %chunk_rows = mul i64 %chunk_row, {columns}",
        f"  %group_rows = mul i64 %group, {of_lane}",
        "  %row0 = add i64 %chunk_rows, %group_rows",
        f"  %column_row = mul i64 %j, {columns}",
        "  %column0 = add i64 %column_row, %group_rows",
    ]
    for c in range(of_lane):
        lines += [
            f"  %from_index{c} = add i64 %column0, {c}",
            f"  %from_at{c} = getelementptr double, ptr %command, i64 %from_index{c}",
            f"  %from{c} = load double, ptr %from_at{c}",
            f"  %to_at{c} = getelementptr double, ptr %from_at{c}, i64 {columns}",
            f"  %to{c} = load double, ptr %to_at{c}",
            f"  %rise{c} = fsub double %to{c}, %from{c}",
            f"  %add{c} = fmul double %rise{c}, %part",
            f"  %value{c} = fadd double %from{c}, %add{c}",
            f"  %row{c}_at = add i64 %row0, {c}",
            f"  %cell_row{c} = mul i64 %row{c}_at, {lanes}",
            f"  %cell{c} = add i64 %cell_row{c}, %in_group",
            f"  %cell_at{c} = getelementptr {scalar}, ptr %scratch, i64 %cell{c}",
        ]
        if scalar == "float":
            lines += [f"  %short{c} = fptrunc double %value{c} to float", f"  store float %short{c}, ptr %cell_at{c}"]
        else:
            lines += [f"  store double %value{c}, ptr %cell_at{c}"]
    return [*lines, "  br label %sample_end"]


def _loop_ends(pointers: int) -> list[str]:
    """The ends of the loops, and the head of the step, `body`, that the trace goes on from."""
    return [
        "sample_end:",
        "  %ii_next = add i64 %ii, 1",
        "  %ii_more = icmp slt i64 %ii_next, %i_end",
        "  br i1 %ii_more, label %sample, label %lane_end",
        "lane_end:",
        "  store i64 %j, ptr %pointer_at",
        "  %w_next = add i64 %w, 1",
        f"  %w_more = icmp slt i64 %w_next, {pointers}",
        "  br i1 %w_more, label %lane, label %apart",
        "apart:",
        "  br label %steps_of_chunk",
        "steps_of_chunk:",
        "  br label %body",
        "next_step:",
        "  %i_plus = add i64 %i, 1",
        "  %i_more = icmp slt i64 %i_plus, %i_end",
        "  br i1 %i_more, label %body, label %chunk_end",
        "chunk_end:",
        "  %i_next = add i64 %i_end, 0",
        "  %more_chunks = icmp slt i64 %i_next, %steps",
        "  br i1 %more_chunks, label %chunk, label %finish",
        "finish:",
        "  ret void",
        "body:",
        "  %i = phi i64 [ %i0, %steps_of_chunk ], [ %i_plus, %next_step ]",
        "  %in_chunk = sub i64 %i, %i0",
    ]


def _together(width: int, kind: str, scalar: str) -> list[str]:
    """The command of a chunk for a block whose lanes lag by the same whole number of steps, `%whole` (-1: they do not)."""
    lanes = kind.split()[0][1:]
    lines = [
        "  %alike = icmp sge i64 %whole, 0",
        "  br i1 %alike, label %together, label %lane_loop",
        "lane_loop:",
        "  br label %lane",
        "together:",
        f"  %part_of_step = load {kind}, ptr %parts, align 8",
        "  br label %step_together",
        "step_together:",
        "  %it = phi i64 [ %i0, %together ], [ %it_next, %step_together ]",
        "  %it_newer = sub i64 %it, %whole",
        "  %it_older = sub i64 %it_newer, 1",
        "  %newer0 = call i64 @llvm.smax.i64(i64 %it_newer, i64 0)",
        "  %newer1 = call i64 @llvm.smin.i64(i64 %newer0, i64 %last_command)",
        "  %older0 = call i64 @llvm.smax.i64(i64 %it_older, i64 0)",
        "  %older1 = call i64 @llvm.smin.i64(i64 %older0, i64 %last_command)",
        f"  %newer_row = mul i64 %newer1, {width}",
        f"  %older_row = mul i64 %older1, {width}",
        "  %in = sub i64 %it, %i0",
        f"  %in_row = mul i64 %in, {width}",
    ]
    for c in range(width):
        lines += [f"  %in{c} = add i64 %in_row, {c}", f"  %in_at{c} = getelementptr {kind}, ptr %scratch, i64 %in{c}"]
        for age in ("newer", "older"):
            name = f"%{age}{c}"
            lines += [
                f"  {name}_index = add i64 %{age}_row, {c}",
                f"  {name}_at = getelementptr {scalar}, ptr %command_short, i64 {name}_index",
                f"  {name}_one = load {scalar}, ptr {name}_at",
                f"  {name}_in = insertelement {kind} poison, {scalar} {name}_one, i64 0",
                f"  {name}_all = shufflevector {kind} {name}_in, {kind} poison, <{lanes} x i32> zeroinitializer",
            ]
        lines += [
            f"  %turn{c} = fsub contract {kind} %older{c}_all, %newer{c}_all",
            f"  %lag{c} = fmul contract {kind} %turn{c}, %part_of_step",
            f"  %sum{c} = fadd contract {kind} %newer{c}_all, %lag{c}",
            f"  store {kind} %sum{c}, ptr %in_at{c}, align 8",
        ]
    return [
        *lines,
        "  %it_next = add i64 %it, 1",
        "  %it_more = icmp slt i64 %it_next, %i_end",
        "  br i1 %it_more, label %step_together, label %together_done",
        "together_done:",
        "  br label %steps_of_chunk",
    ]
