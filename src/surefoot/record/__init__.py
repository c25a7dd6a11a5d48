"""What was commanded and measured: the canonical record, its file formats, and motions to excite joints with."""

from surefoot.record.excitation import Excitation, chirp, steps
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets

__all__ = ["Excitation", "Recording", "Targets", "chirp", "steps"]
