"""Measure a robot's joints in the air and make the simulator move like it. Each command says what comes next."""

from __future__ import annotations

import sys
from collections.abc import Callable

import tyro

from surefoot.commands.accounting import energy
from surefoot.commands.converting import convert
from surefoot.commands.exporting import export
from surefoot.commands.fitting import check, compare, demo, identify, robots, validate
from surefoot.commands.networking import learn_network, validate_network
from surefoot.commands.planning import excite, plan
from surefoot.commands.recording import record, recover, serve
from surefoot.commands.reporting import report
from surefoot.commands.running import analyze, csource, run
from surefoot.commands.training import play, train
from surefoot.commands.transferring import transfer
from surefoot.commands.words import gather
from surefoot.errors import SurefootError

COMMANDS: dict[str, Callable[..., int]] = {
    "robots": robots,
    "convert": convert,
    "plan": plan,
    "excite": excite,
    "record": record,
    "recover": recover,
    "serve": serve,
    "check": check,
    "identify": identify,
    "validate": validate,
    "compare": compare,
    "report": report,
    "export": export,
    "learn-network": learn_network,
    "validate-network": validate_network,
    "train": train,
    "play": play,
    "run": run,
    "analyze": analyze,
    "transfer": transfer,
    "csource": csource,
    "energy": energy,
    "demo": demo,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a mistake of the user's ends in a sentence and exit code 1, never in a traceback."""
    try:
        return tyro.extras.subcommand_cli_from_dict(
            COMMANDS, prog="surefoot", args=gather(sys.argv[1:] if arguments is None else arguments), description=__doc__,
            config=(tyro.conf.OmitArgPrefixes,),
        )  # fmt: skip
    except SurefootError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: the system refused to read or write{where}: {error.strerror or error}.", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: the memory is not enough; use a shorter recording, or a smaller --population.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
