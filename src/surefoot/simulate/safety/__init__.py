"""Is a motion safe? Asked of a simulation with pessimistic and optimistic joints, before the robot moves."""

from surefoot.simulate.safety.examine import Breach, Safety, examine
from surefoot.simulate.safety.outlook import Outlook, outlook
from surefoot.simulate.safety.reach import largest_safe
from surefoot.simulate.safety.wrench import Stand, Wrench, base_wrench

__all__ = ["Breach", "Outlook", "Safety", "Stand", "Wrench", "base_wrench", "examine", "largest_safe", "outlook"]
