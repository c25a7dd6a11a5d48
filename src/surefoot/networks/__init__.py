"""Drive networks: learned from recordings or taken from others, and run wherever a drive can be plugged in."""

from surefoot.networks.convention import Convention
from surefoot.networks.encoder import learn_from_encoder
from surefoot.networks.learn import Learned, learn_from_torque
from surefoot.networks.network import Network, NetworkDrive
from surefoot.networks.replay import score_network

__all__ = ["Convention", "Learned", "Network", "NetworkDrive", "learn_from_encoder", "learn_from_torque", "score_network"]
